"""What a change of definitions breaks: layouts of released versions compared, and bytes that show the difference."""
