// Command of franz-go: client TASK ADDRESS.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const name = "conformance"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	task := map[string]func(context.Context, kgo.Opt) error{
		"produce": produce, "consume": consume, "group": group, "transaction": transaction,
	}[os.Args[1]]
	if task == nil {
		os.Exit(77)
	}
	if err := task(ctx, kgo.SeedBrokers(os.Args[2])); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func record(partition int32, key, value []byte) *kgo.Record {
	return &kgo.Record{Topic: name, Partition: partition, Key: key, Value: value}
}

func produce(ctx context.Context, address kgo.Opt) error {
	client, err := kgo.NewClient(address, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	for i, value := range [][]byte{[]byte("v0"), []byte("v1"), nil, {}, []byte("v4")} {
		if err := client.ProduceSync(ctx, record(0, fmt.Appendf(nil, "k%d", i), value)).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

func read(ctx context.Context, client *kgo.Client) error {
	for seen := 0; seen < 3; {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, each := range fetches.Errors() {
			if !kerr.IsRetriable(each.Err) {
				return each.Err
			}
		}
		seen += fetches.NumRecords()
	}
	return nil
}

func consume(ctx context.Context, address kgo.Opt) error {
	start := map[string]map[int32]kgo.Offset{name: {0: kgo.NewOffset().AtStart()}}
	client, err := kgo.NewClient(address, kgo.ConsumePartitions(start))
	if err != nil {
		return err
	}
	defer client.Close()
	return read(ctx, client)
}

func group(ctx context.Context, address kgo.Opt) error {
	client, err := kgo.NewClient(address, kgo.ConsumerGroup(name), kgo.ConsumeTopics(name), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(6*time.Second),
		kgo.HeartbeatInterval(500*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := read(ctx, client); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := client.CommitUncommittedOffsets(ctx)
		if !errors.Is(err, kerr.UnknownMemberID) && !errors.Is(err, kerr.IllegalGeneration) || attempt == 5 {
			return err
		}
		again, cancel := context.WithTimeout(ctx, time.Second) // the client keeps its position when it joins again
		client.PollFetches(again)
		cancel()
	}
}

func transaction(ctx context.Context, address kgo.Opt) error {
	client, err := kgo.NewClient(address, kgo.TransactionalID(name), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	for range 2 {
		if err := client.BeginTransaction(); err != nil {
			return err
		}
		for range 3 {
			records := []*kgo.Record{}
			for _, partition := range []int32{0, 0, 1, 1} {
				records = append(records, record(partition, nil, []byte("v")))
			}
			if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
				return err
			}
		}
		if err := client.EndTransaction(ctx, kgo.TryCommit); err != nil {
			return err
		}
	}
	return nil
}
