// franz-go's kmsg as a worker of other_languages.py: one JSON request per line on stdin, one answer on stdout.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const library = "github.com/twmb/franz-go/pkg/kmsg"

type message interface {
	SetVersion(int16)
	ReadFrom([]byte) error
	AppendTo([]byte) []byte
}

var messages = map[string]func() message{
	"ApiVersionsRequest":  func() message { return kmsg.NewPtrApiVersionsRequest() },
	"FetchResponse":       func() message { return kmsg.NewPtrFetchResponse() },
	"JoinGroupResponse":   func() message { return kmsg.NewPtrJoinGroupResponse() },
	"MetadataResponse":    func() message { return kmsg.NewPtrMetadataResponse() },
	"OffsetCommitRequest": func() message { return kmsg.NewPtrOffsetCommitRequest() },
	"ProduceRequest":      func() message { return kmsg.NewPtrProduceRequest() },
}

// The latest result; the compiler could remove the computation of unused results.
var (
	decoded message
	encoded []byte
)

type request struct {
	Do, Workload, Message, Operation string
	Version                          int16
	Data                             []byte
	Loops                            int
}

type answer struct {
	Version    string   `json:"version,omitempty"`
	Again      []byte   `json:"again,omitempty"`
	Operations []string `json:"operations,omitempty"`
	Error      string   `json:"error,omitempty"`
}

type workload struct {
	create  func() message
	version int16
	data    []byte
	built   message
	buffer  []byte
}

func (w *workload) decode() (message, error) {
	m := w.create()
	m.SetVersion(w.version)
	return m, m.ReadFrom(w.data)
}

func (w *workload) run(operation string, loops int) (err error) {
	switch operation {
	case "decode":
		for i := 0; i < loops && err == nil; i++ {
			decoded, err = w.decode()
		}
	case "encode":
		for range loops {
			encoded = w.built.AppendTo(nil)
		}
	case "encode+reuse":
		for range loops {
			w.buffer = w.built.AppendTo(w.buffer[:0])
		}
	default:
		err = fmt.Errorf("unknown operation %s", operation)
	}
	return err
}

func load(r request) (*workload, error) {
	create, known := messages[r.Message]
	if !known {
		return nil, fmt.Errorf("unknown message %s", r.Message)
	}
	w := &workload{create: create, version: r.Version, data: r.Data}
	var err error
	if w.built, err = w.decode(); err != nil {
		return nil, err
	}
	for range 2 { // into a buffer that grows, and into the grown one
		if err = w.run("encode+reuse", 1); err != nil || !bytes.Equal(w.buffer, w.built.AppendTo(nil)) {
			return nil, errors.Join(err, errors.New("other bytes in a buffer that is reused"))
		}
	}
	return w, nil
}

func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, module := range info.Deps {
			if module.Path == library {
				return "franz-go kmsg " + module.Version
			}
		}
	}
	return "franz-go kmsg of unknown version"
}

func reply(r request, loaded map[string]*workload) answer {
	switch r.Do {
	case "hello":
		return answer{Version: version()}
	case "load":
		w, err := load(r)
		if err != nil {
			return answer{Error: err.Error()}
		}
		loaded[r.Workload] = w
		return answer{Again: w.built.AppendTo(nil), Operations: []string{"decode", "encode", "encode+reuse"}}
	case "time":
		if err := loaded[r.Workload].run(r.Operation, r.Loops); err != nil {
			return answer{Error: err.Error()}
		}
		return answer{}
	}
	return answer{Error: "unknown request " + r.Do}
}

func main() {
	loaded := map[string]*workload{}
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			answers.Encode(answer{Error: err.Error()})
			continue
		}
		answers.Encode(reply(r, loaded))
	}
}
