//! Testee of the codec mode: the crate kafka-protocol.
//!
//! Only "rewrite": the messages of the crate have no JSON form.

use std::io::{stdin, BufRead};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{
    ApiKey, ConsumerProtocolAssignment, ConsumerProtocolSubscription, DefaultPrincipalData,
    EndTxnMarker, KRaftVersionRecord, LeaderChangeMessage, RequestHeader, RequestKind,
    ResponseHeader, ResponseKind, SnapshotFooterRecord, SnapshotHeaderRecord, VotersRecord,
};
use kafka_protocol::protocol::{
    decode_request_header_from_buffer, encode_request_header_into_buffer, Decodable, Encodable,
    Message,
};
use kafka_protocol::records::{RecordBatchDecoder, RecordBatchEncoder, RecordEncodeOptions};
use serde_json::{json, Value};

/// The lock file has the version of the crate, which the crate does not export.
const LOCK: &str = include_str!("../Cargo.lock");

enum Failure {
    Unsupported(String),
    Refused(String),
}

/// Errors of the crate, whose type it does not export.
impl<E: std::fmt::Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Refused(format!("{error:#}"))
    }
}

fn unsupported(what: &str) -> Failure {
    Failure::Unsupported(format!("the crate has no {what}"))
}

fn rewrite(kind: &str, name: &str, version: i16, mut data: Bytes) -> Result<BytesMut, Failure> {
    match kind {
        "message" => rewrite_message(name, version, &mut data),
        "request" | "response" => {
            let size = data.try_get_i32()?;
            let mut frame = match usize::try_from(size) {
                Ok(size) if size <= data.len() => data.split_to(size),
                _ => return Err(format!("a frame of {size} bytes").as_str().into()),
            };
            let body = rewrite_frame(kind == "request", name, version, &mut frame)?;
            let mut again = BytesMut::new();
            again.put_i32(i32::try_from(body.len())?);
            again.put(body);
            Ok(again)
        }
        "records" => rewrite_records(&mut data),
        _ => Err(unsupported(kind)),
    }
}

fn rewrite_frame(
    is_request: bool,
    name: &str,
    version: i16,
    data: &mut Bytes,
) -> Result<BytesMut, Failure> {
    let mut again = BytesMut::new();
    let api = api_of(name, version)?;
    if is_request {
        let header = decode_request_header_from_buffer(data)?;
        encode_request_header_into_buffer(&mut again, &header)?;
        RequestKind::decode(api, data, version)?.encode(&mut again, version)?;
    } else {
        let header_version = api.response_header_version(version);
        ResponseHeader::decode(data, header_version)?.encode(&mut again, header_version)?;
        ResponseKind::decode(api, data, version)?.encode(&mut again, version)?;
    }
    Ok(again)
}

fn api_of(name: &str, version: i16) -> Result<ApiKey, Failure> {
    ApiKey::iter()
        .filter(|api| (api.valid_versions().min..=api.valid_versions().max).contains(&version))
        .find(|api| [format!("{api:?}Request"), format!("{api:?}Response")].contains(&name.into()))
        .ok_or_else(|| unsupported(&format!("{name} {version}")))
}

fn rewrite_message(name: &str, version: i16, data: &mut Bytes) -> Result<BytesMut, Failure> {
    match name {
        "ConsumerProtocolAssignment" => again::<ConsumerProtocolAssignment>(version, data),
        "ConsumerProtocolSubscription" => again::<ConsumerProtocolSubscription>(version, data),
        "DefaultPrincipalData" => again::<DefaultPrincipalData>(version, data),
        "EndTxnMarker" => again::<EndTxnMarker>(version, data),
        "KRaftVersionRecord" => again::<KRaftVersionRecord>(version, data),
        "LeaderChangeMessage" => again::<LeaderChangeMessage>(version, data),
        "RequestHeader" => again::<RequestHeader>(version, data),
        "ResponseHeader" => again::<ResponseHeader>(version, data),
        "SnapshotFooterRecord" => again::<SnapshotFooterRecord>(version, data),
        "SnapshotHeaderRecord" => again::<SnapshotHeaderRecord>(version, data),
        "VotersRecord" => again::<VotersRecord>(version, data),
        _ => {
            let (api, mut again) = (api_of(name, version)?, BytesMut::new());
            if name.ends_with("Request") {
                RequestKind::decode(api, data, version)?.encode(&mut again, version)?;
            } else {
                ResponseKind::decode(api, data, version)?.encode(&mut again, version)?;
            }
            Ok(again)
        }
    }
}

fn again<M: Message + Decodable + Encodable>(
    version: i16,
    data: &mut Bytes,
) -> Result<BytesMut, Failure> {
    if version < M::VERSIONS.min || version > M::VERSIONS.max {
        return Err(unsupported(&format!("version {version}")));
    }
    let mut again = BytesMut::new();
    M::decode(data, version)?.encode(&mut again, version)?;
    Ok(again)
}

fn rewrite_records(data: &mut Bytes) -> Result<BytesMut, Failure> {
    if let Some(magic @ 0..=1) = data.get(16) {
        return Err(unsupported(&format!("batches of format {magic}")));
    }
    let mut again = BytesMut::new();
    for batch in RecordBatchDecoder::decode_all(data)? {
        let options = RecordEncodeOptions {
            version: batch.version,
            compression: batch.compression,
        };
        RecordBatchEncoder::encode(&mut again, &batch.records, &options)?;
    }
    Ok(again)
}

fn version() -> &'static str {
    let mut lines = LOCK
        .lines()
        .skip_while(|line| *line != "name = \"kafka-protocol\"");
    let found = lines.nth(1).and_then(|line| line.split('"').nth(1));
    found.unwrap_or("of unknown version")
}

fn answer(request: &Value) -> Result<Value, Failure> {
    let text = |key: &str| request[key].as_str().unwrap_or_default();
    if text("op") == "describe" {
        let name = format!("kafka-protocol {}", version());
        return Ok(json!({"name": name, "operations": ["rewrite"]}));
    }
    let number = i16::try_from(request["version"].as_i64().unwrap_or_default())?;
    let data = hex::decode(text("data"))?.into();
    let again = rewrite(text("kind"), text("name"), number, data)?;
    Ok(json!({"data": hex::encode(again)}))
}

fn main() {
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let mut found = match answer(&request) {
            Ok(found) => found,
            Err(Failure::Unsupported(reason)) => json!({"unsupported": reason}),
            Err(Failure::Refused(reason)) => json!({"refused": reason}),
        };
        found["id"] = request["id"].clone();
        println!("{found}");
    }
}
