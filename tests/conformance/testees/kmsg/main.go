// Testee of the codec mode: kmsg, the messages of franz-go.
//
// Only "rewrite": kmsg has no JSON form, and its fields have names of their own. Frames are not run, because kmsg does
// not read headers; franz-go's client does.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime/debug"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

type request struct {
	ID      int64  `json:"id"`
	Op      string `json:"op"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version int16  `json:"version"`
	Data    string `json:"data"`
}

type answer struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name,omitempty"`
	Operations  []string `json:"operations,omitempty"`
	Data        *string  `json:"data,omitempty"`
	Refused     string   `json:"refused,omitempty"`
	Unsupported string   `json:"unsupported,omitempty"`
}

type codec interface {
	ReadFrom([]byte) error
	AppendTo([]byte) []byte
}

// versioned is the part of kmsg.Request and kmsg.Response that they have in common.
type versioned interface {
	codec
	SetVersion(int16)
	MaxVersion() int16
}

// prefixed is a struct whose bytes begin with its version, as those in Kafka's internal topics do.
type prefixed struct {
	create     func() codec
	maxVersion int16
}

var data = map[string]prefixed{
	"ConsumerProtocolAssignment":   {func() codec { return new(kmsg.ConsumerMemberAssignment) }, 3},
	"ConsumerProtocolSubscription": {func() codec { return new(kmsg.ConsumerMemberMetadata) }, 3},
	"DefaultPrincipalData":         {func() codec { return new(kmsg.DefaultPrincipalData) }, 0},
	"EndTxnMarker":                 {func() codec { return new(kmsg.EndTxnMarker) }, 0},
	"GroupMetadataValue":           {func() codec { return new(kmsg.GroupMetadataValue) }, 4},
	"OffsetCommitValue":            {func() codec { return new(kmsg.OffsetCommitValue) }, 4},
	"TransactionLogValue":          {func() codec { return new(kmsg.TxnMetadataValue) }, 1},
}

var errUnsupported = errors.New("kmsg does not have it")

func rewrite(asked request) ([]byte, error) {
	input, err := hex.DecodeString(asked.Data)
	if err != nil {
		return nil, err
	}
	if asked.Kind == "records" {
		return rewriteRecords(input)
	}
	if asked.Kind != "message" {
		return nil, fmt.Errorf("%w: kind %s", errUnsupported, asked.Kind)
	}
	if found, ok := data[asked.Name]; ok && asked.Version <= found.maxVersion {
		prefix := binary.BigEndian.AppendUint16(nil, uint16(asked.Version))
		message := found.create()
		if err := message.ReadFrom(append(prefix, input...)); err != nil {
			return nil, err
		}
		return message.AppendTo(nil)[len(prefix):], nil
	}
	message := forName(asked.Name)
	if message == nil || asked.Version > message.MaxVersion() {
		return nil, fmt.Errorf("%w: %s %d", errUnsupported, asked.Name, asked.Version)
	}
	message.SetVersion(asked.Version)
	if err := message.ReadFrom(input); err != nil {
		return nil, err
	}
	return message.AppendTo(nil), nil
}

// forName returns a request or response, or nil. kmsg writes abbreviations in upper case: LeaderAndISR.
func forName(name string) versioned {
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		api := kmsg.NameForKey(key)
		if strings.EqualFold(name, api+"Request") {
			return kmsg.RequestForKey(key)
		}
		if strings.EqualFold(name, api+"Response") {
			return kmsg.ResponseForKey(key)
		}
	}
	return nil
}

// rewriteRecords rewrites batches of format 2. As in franz-go's client, the last batch may be incomplete. Checksums,
// counts and sizes are the task of kmsg's users; compression too, so that compressed batches are not run.
func rewriteRecords(input []byte) (output []byte, err error) {
	const beforeLength, beforeAttributes = 12, 21
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for len(input) >= beforeAttributes {
		length := int(int32(binary.BigEndian.Uint32(input[8:]))) + beforeLength
		if length > len(input) {
			break
		}
		if magic := input[16]; magic != 2 {
			return nil, fmt.Errorf("%w: format %d", errUnsupported, magic)
		}
		if length < beforeAttributes {
			return nil, fmt.Errorf("a batch of %d bytes", length)
		}
		batch := kmsg.NewRecordBatch()
		if err := batch.ReadFrom(input[:length]); err != nil {
			return nil, err
		}
		sum := crc32.Checksum(input[beforeAttributes:length], castagnoli)
		if int32(sum) != batch.CRC {
			return nil, errors.New("the checksum differs")
		}
		if compression := batch.Attributes & 7; compression > 4 {
			return nil, fmt.Errorf("compression type %d", compression)
		} else if compression != 0 {
			return nil, fmt.Errorf("%w: compression", errUnsupported)
		}
		if batch.Records, err = rewriteEach(batch.Records, batch.NumRecords); err != nil {
			return nil, err
		}
		batch.Length = int32(len(batch.AppendTo(nil)) - beforeLength)
		again := batch.AppendTo(nil)
		batch.CRC = int32(crc32.Checksum(again[beforeAttributes:], castagnoli))
		output, input = batch.AppendTo(output), input[length:]
	}
	return output, nil
}

func rewriteEach(input []byte, count int32) (output []byte, err error) {
	if count < 0 {
		return nil, fmt.Errorf("%d records", count)
	}
	for ; count > 0; count-- {
		length, size := binary.Varint(input)
		if size <= 0 || length < 0 || length > int64(len(input)-size) {
			return nil, errors.New("a record is incomplete")
		}
		end := size + int(length)
		record := kmsg.NewRecord()
		if err := record.ReadFrom(input[:end]); err != nil {
			return nil, err
		}
		record.Length = 0 // takes one byte
		record.Length = int32(len(record.AppendTo(nil)) - 1)
		output, input = record.AppendTo(output), input[end:]
	}
	if len(input) > 0 {
		return nil, fmt.Errorf("%d bytes after the last record", len(input))
	}
	return output, nil
}

func respond(asked request) (found answer) {
	found.ID = asked.ID
	if asked.Op == "describe" {
		found.Name, found.Operations = "franz-go's kmsg "+version(), []string{"rewrite"}
		return found
	}
	output, err := rewrite(asked)
	switch {
	case errors.Is(err, errUnsupported):
		found.Unsupported = err.Error()
	case err != nil:
		found.Refused = err.Error()
	default:
		written := hex.EncodeToString(output)
		found.Data = &written
	}
	return found
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if strings.HasSuffix(each.Path, "/kmsg") {
			return strings.TrimPrefix(each.Version, "v")
		}
	}
	return "of unknown version"
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<16)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		if err := answers.Encode(respond(asked)); err != nil {
			panic(err)
		}
	}
}
