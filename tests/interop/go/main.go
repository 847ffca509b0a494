// Does the work of talk.py with franz-go: talk WHAT BOOTSTRAP TOPICS RECORDS CODEC...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

type seen struct {
	Topics    []string            `json:"topics"`
	Records   map[string][][3]any `json:"records"`
	Committed map[string]int64    `json:"committed"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	if err := talk(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func talk(ctx context.Context, what, bootstrap, prefix, number string, names []string) error {
	count, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	var topics []string
	for _, name := range names {
		topic := prefix + "-" + name
		topics = append(topics, topic)
		if err := write(ctx, bootstrap, topic, codecs[name], count); err != nil {
			return fmt.Errorf("%s: %w", topic, err)
		}
	}
	if what == "write" {
		return nil
	}
	got, err := read(ctx, bootstrap, prefix+"-group", topics, count)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

func write(ctx context.Context, bootstrap, topic string, codec kgo.CompressionCodec, count int) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap),
		kgo.ProducerBatchCompression(codec),
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerLinger(50*time.Millisecond),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	var records []*kgo.Record
	for i := 0; i < count; i++ {
		key, value := fmt.Sprintf("key-%d", i), strings.Repeat(fmt.Sprintf("value %d ", i), 5)
		records = append(records, &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(value)})
	}
	return client.ProduceSync(ctx, records...).FirstErr()
}

func read(ctx context.Context, bootstrap, group string, topics []string, count int) (*seen, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	got := &seen{Records: map[string][][3]any{}, Committed: map[string]int64{}}
	for number := 0; number < count*len(topics); {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(record *kgo.Record) {
			row := [3]any{record.Offset, string(record.Key), string(record.Value)}
			got.Records[record.Topic] = append(got.Records[record.Topic], row)
			number++
		})
	}
	if err := client.CommitUncommittedOffsets(ctx); err != nil {
		return nil, err
	}
	admin := kadm.NewClient(client)
	offsets, err := admin.FetchOffsets(ctx, group)
	if err != nil {
		return nil, err
	}
	offsets.Each(func(offset kadm.OffsetResponse) { got.Committed[offset.Topic] = offset.At })
	listed, err := admin.ListTopics(ctx)
	if err != nil {
		return nil, err
	}
	got.Topics = listed.Names()
	return got, listed.Error()
}
