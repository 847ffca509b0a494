// Driver of franz-go; lines.py describes the protocol.
//
// The client commits offsets in a transaction only for a consumer that is also the producer (GroupTransactSession). A
// consumer with a transactional id is one, and a producer that names this consumer is the same client.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type command map[string]any

// text and number return zero values for null.
func (c command) text(name string) (text string)      { text, _ = c[name].(string); return }
func (c command) number(name string) (number float64) { number, _ = c[name].(float64); return }

func (c command) ms(name string) time.Duration {
	return time.Duration(c.number(name) * float64(time.Millisecond))
}

type handle struct {
	group   string
	client  *kgo.Client
	session *kgo.GroupTransactSession
}

var (
	handles        sync.Map // by name
	errUnsupported = errors.New("not supported")
	balancers      = map[string]kgo.GroupBalancer{
		"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
		"sticky": kgo.StickyBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
	}
	acks       = map[any]kgo.Acks{"all": kgo.AllISRAcks(), 1.0: kgo.LeaderAck(), 0.0: kgo.NoAck()}
	isolations = map[string]kgo.IsolationLevel{"read_committed": kgo.ReadCommitted()}
	resets     = map[string]kgo.Offset{
		"earliest": kgo.NewOffset().AtStart(), "latest": kgo.NewOffset().AtEnd(), "none": kgo.NoResetOffset(),
	}
)

func main() {
	queues := map[string]chan command{}
	answers := make(chan map[string]any)
	go func() {
		for each := range answers {
			json.NewEncoder(os.Stdout).Encode(each)
		}
	}()
	commands := json.NewDecoder(os.Stdin)
	for c := (command{}); commands.Decode(&c) == nil; c = (command{}) {
		queue := queues[c.text("name")]
		if queue == nil {
			queue = make(chan command, 100)
			queues[c.text("name")] = queue
			go func() {
				for each := range queue {
					answers <- run(each)
				}
			}()
		}
		queue <- c
	}
}

func run(c command) map[string]any {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.number("seconds")*float64(time.Second)))
	defer cancel()
	found, _ := handles.LoadOrStore(c.text("name"), &handle{})
	ok, err := found.(*handle).run(ctx, c)
	answer := map[string]any{"id": c["id"], "unsupported": err == errUnsupported}
	if err == nil || c.text("do") == "poll" {
		answer["ok"] = ok
	}
	if err != nil {
		describe(err, answer)
	}
	return answer
}

// describe adds Kafka's name of an error, or the type of the innermost error, or its text if it has no own type.
func describe(err error, answer map[string]any) {
	answer["text"] = err.Error()
	if known, is := errors.AsType[*kerr.Error](err); is {
		answer["error"], answer["code"], answer["retriable"] = known.Message, known.Code, known.Retriable
		return
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	answer["error"] = strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
	if strings.HasPrefix(answer["error"].(string), "errors.") {
		answer["error"] = err.Error()
	}
}

func options(c command) []kgo.Opt {
	made := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(c.text("servers"), ",")...),
		kgo.RequestTimeoutOverhead(c.ms("request_ms")),
		kgo.RetryTimeout(c.ms("block_ms")),
		kgo.RetryBackoffFn(func(int) time.Duration { return c.ms("backoff_ms") }),
		kgo.MetadataMinAge(c.ms("backoff_ms")), kgo.MetadataMaxAge(c.ms("metadata_ms")),
		kgo.AllowAutoTopicCreation(),
		kgo.ProduceRequestTimeout(c.ms("request_ms")), kgo.RecordDeliveryTimeout(c.ms("delivery_ms")),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
	}
	if id := c.text("transactional_id"); id != "" {
		made = append(made, kgo.TransactionalID(id), kgo.TransactionTimeout(c.ms("transaction_ms")))
	}
	return made
}

func (h *handle) consume(c command) (err error) {
	var topics []string
	for _, each := range c["topics"].([]any) {
		topics = append(topics, each.(string))
	}
	all := append(options(c), kgo.ConsumeTopics(topics...), kgo.FetchMaxWait(c.ms("fetch_ms")),
		kgo.ConsumeResetOffset(resets[c.text("reset")]), kgo.FetchIsolationLevel(isolations[c.text("isolation")]))
	if h.group = c.text("group"); h.group != "" {
		all = append(all, kgo.ConsumerGroup(h.group), kgo.DisableAutoCommit(), kgo.SessionTimeout(c.ms("session_ms")),
			kgo.HeartbeatInterval(c.ms("heartbeat_ms")), kgo.RebalanceTimeout(c.ms("max_poll_ms")))
		if c.text("protocol") == "consumer" {
			all = append(all, kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer()))
		} else if strategy := c.text("strategy"); strategy != "" {
			all = append(all, kgo.Balancers(balancers[strategy]))
		}
		if instance := c.text("instance"); instance != "" {
			all = append(all, kgo.InstanceID(instance))
		}
	}
	if c.text("transactional_id") == "" {
		h.client, err = kgo.NewClient(all...)
	} else if h.session, err = kgo.NewGroupTransactSession(all...); err == nil {
		h.client = h.session.Client()
	}
	return err
}

func (h *handle) produce(c command) (err error) {
	if source, known := handles.Load(c.text("consumer")); known && source.(*handle).session != nil {
		*h = *source.(*handle)
		return nil
	}
	all := append(options(c), kgo.RequiredAcks(acks[c["acks"]]))
	if c["idempotence"] == false {
		all = append(all, kgo.DisableIdempotentWrite())
	}
	if retries, set := c["retries"].(float64); set {
		all = append(all, kgo.RecordRetries(int(retries)))
	}
	h.client, err = kgo.NewClient(all...)
	return err
}

func (h *handle) run(ctx context.Context, c command) (any, error) {
	topic, index := c.text("topic"), int32(c.number("partition"))
	switch c.text("do") {
	case "consumer":
		return nil, h.consume(c)
	case "producer":
		return nil, h.produce(c)
	case "assign":
		for _, each := range c["partitions"].([]any) {
			topic, index, offset := each.([]any)[0].(string), each.([]any)[1].(float64), each.([]any)[2].(float64)
			start := map[int32]kgo.Offset{int32(index): kgo.NewOffset().At(int64(offset))}
			h.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: start})
		}
		return nil, nil
	case "poll":
		return h.poll(ctx, int(c.number("count")))
	case "commit":
		return nil, h.client.CommitUncommittedOffsets(ctx)
	case "position":
		if found, known := h.client.UncommittedOffsets()[topic][index]; known {
			return found.Offset, nil
		}
		if found, known := h.client.CommittedOffsets()[topic][index]; known {
			return found.Offset, nil
		}
	case "committed":
		offsets, err := kadm.NewClient(h.client).FetchOffsets(ctx, h.group)
		if found, known := offsets.Lookup(topic, index); known && found.At >= 0 {
			return found.At, found.Err
		}
		return nil, err
	case "metadata":
		listed, err := kadm.NewClient(h.client).ListTopics(ctx, topic)
		return len(listed[topic].Partitions), cmp.Or(err, listed.Error())
	case "send":
		record := &kgo.Record{Topic: topic, Partition: index, Value: []byte(c.text("value"))}
		sent := make(chan error, 1)
		h.client.Produce(ctx, record, func(_ *kgo.Record, err error) { sent <- err })
		select {
		case err := <-sent:
			return record.Offset, err
		case <-ctx.Done(): // an idempotent producer does not give up records that may have been written
			return nil, ctx.Err()
		}
	case "init":
		_, _, err := h.client.ProducerID(ctx)
		return nil, err
	case "begin":
		return nil, h.client.BeginTransaction() // also of a session
	case "send_offsets":
		if h.session != nil {
			return nil, nil // end sends the offsets of what was polled
		}
	case "end":
		commits := kgo.TransactionEndTry(c["commit"].(bool))
		if h.session != nil {
			return h.session.End(ctx, commits)
		}
		flush := h.client.AbortBufferedRecords
		if commits {
			flush = h.client.Flush
		}
		return commits, cmp.Or(flush(ctx), h.client.EndTransaction(ctx, commits))
	case "close":
		defer h.client.CloseAllowingRebalance()
		return nil, h.client.LeaveGroupContext(ctx)
	}
	return nil, errUnsupported
}

func (h *handle) poll(ctx context.Context, count int) (any, error) {
	rows := [][4]any{}
	for len(rows) < count && ctx.Err() == nil {
		fetches := h.client.PollRecords(ctx, count-len(rows))
		fetches.EachRecord(func(each *kgo.Record) {
			rows = append(rows, [4]any{each.Topic, each.Partition, each.Offset, string(each.Value)})
		})
		if errs := fetches.Errors(); len(errs) > 0 && ctx.Err() == nil {
			return rows, errs[0].Err
		}
	}
	return rows, nil
}
