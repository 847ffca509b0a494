//! The kafka-protocol crate as a worker of other_languages.py: one JSON request per line on stdin, one answer on stdout.

use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::io::{stdin, BufRead};

use base64::{engine::general_purpose::STANDARD, Engine};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{
    ApiVersionsRequest, FetchResponse, JoinGroupResponse, MetadataResponse, OffsetCommitRequest,
    ProduceRequest,
};
use kafka_protocol::protocol::{Decodable, Encodable};
use serde_json::{json, Value};

type Failure = Box<dyn Error>;

/// The lock file, for the crate's version, which the crate does not export.
const LOCK: &str = include_str!("../Cargo.lock");

trait Workload {
    fn run(&mut self, operation: &str, loops: u64) -> Result<(), Failure>;
    fn again(&mut self) -> Result<Bytes, Failure>;
}

struct Loaded<M> {
    version: i16,
    data: Bytes,
    message: M,
    buffer: BytesMut,
}

impl<M: Decodable + Encodable + 'static> Loaded<M> {
    fn load(version: i16, data: Bytes) -> Result<Box<dyn Workload>, Failure> {
        let message = Self::decode(version, &data)?;
        Ok(Box::new(Self {
            version,
            data,
            message,
            buffer: BytesMut::new(),
        }))
    }

    fn decode(version: i16, data: &Bytes) -> Result<M, Failure> {
        Ok(M::decode(&mut data.clone(), version)?)
    }

    fn encode(&self) -> Result<BytesMut, Failure> {
        let mut buffer = BytesMut::with_capacity(self.message.compute_size(self.version)?);
        self.message.encode(&mut buffer, self.version)?;
        Ok(buffer)
    }

    fn encode_into_buffer(&mut self) -> Result<(), Failure> {
        self.buffer.clear();
        Ok(self.message.encode(&mut self.buffer, self.version)?)
    }
}

impl<M: Decodable + Encodable + 'static> Workload for Loaded<M> {
    fn run(&mut self, operation: &str, loops: u64) -> Result<(), Failure> {
        match operation {
            "decode" => {
                for _ in 0..loops {
                    black_box(Self::decode(self.version, &self.data)?);
                }
            }
            "encode" => {
                for _ in 0..loops {
                    black_box(self.encode()?);
                }
            }
            "encode+reuse" => {
                for _ in 0..loops {
                    self.encode_into_buffer()?;
                }
            }
            _ => return Err(format!("unknown operation {operation}").into()),
        }
        Ok(())
    }

    fn again(&mut self) -> Result<Bytes, Failure> {
        let again = self.encode()?;
        for _ in 0..2 {
            // into a buffer that grows, and into the grown one
            self.encode_into_buffer()?;
            if self.buffer != again {
                return Err("other bytes in a buffer that is reused".into());
            }
        }
        Ok(again.freeze())
    }
}

fn load(message: &str, version: i16, data: Bytes) -> Result<Box<dyn Workload>, Failure> {
    match message {
        "ApiVersionsRequest" => Loaded::<ApiVersionsRequest>::load(version, data),
        "FetchResponse" => Loaded::<FetchResponse>::load(version, data),
        "JoinGroupResponse" => Loaded::<JoinGroupResponse>::load(version, data),
        "MetadataResponse" => Loaded::<MetadataResponse>::load(version, data),
        "OffsetCommitRequest" => Loaded::<OffsetCommitRequest>::load(version, data),
        "ProduceRequest" => Loaded::<ProduceRequest>::load(version, data),
        _ => Err(format!("unknown message {message}").into()),
    }
}

fn version() -> &'static str {
    let mut lines = LOCK
        .lines()
        .skip_while(|line| *line != "name = \"kafka-protocol\"")
        .skip(1);
    lines
        .next()
        .and_then(|line| line.split('"').nth(1))
        .unwrap_or("of unknown version")
}

fn answer(line: &str, loaded: &mut HashMap<String, Box<dyn Workload>>) -> Result<Value, Failure> {
    let request: Value = serde_json::from_str(line)?;
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    match text("do") {
        "hello" => Ok(json!({"version": format!("kafka-protocol {}", version())})),
        "load" => {
            let number = i16::try_from(request["version"].as_i64().unwrap_or(-1))?;
            let mut workload = load(
                text("message"),
                number,
                STANDARD.decode(text("data"))?.into(),
            )?;
            let again = STANDARD.encode(workload.again()?);
            loaded.insert(text("workload").to_owned(), workload);
            Ok(json!({"again": again, "operations": ["decode", "encode", "encode+reuse"]}))
        }
        "time" => {
            let workload = loaded
                .get_mut(text("workload"))
                .ok_or("this workload was not loaded")?;
            workload.run(
                text("operation"),
                request["loops"].as_u64().unwrap_or_default(),
            )?;
            Ok(json!({}))
        }
        other => Err(format!("unknown request {other}").into()),
    }
}

fn main() -> Result<(), Failure> {
    let mut loaded = HashMap::new();
    for line in stdin().lock().lines() {
        println!(
            "{}",
            answer(&line?, &mut loaded).unwrap_or_else(|error| json!({"error": error.to_string()}))
        );
    }
    Ok(())
}
