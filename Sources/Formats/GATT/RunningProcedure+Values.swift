import ATT
import Bluetooth

extension RunningProcedure {
  /// Takes the answer to a read.
  mutating func receiveValue(_ pdu: ATTPDU) -> Step {
    switch (procedure, pdu) {
    case (.read, .readResponse(let value)), (.readMultiple, .readMultipleResponse(let value)):
      return .finish(.success(.value([UInt8](value))))
    case (.readDatabaseHash, .readByTypeResponse(let size, let list)):
      var elements = ElementList(list, size: size)
      guard let first = elements.next() else { return fail(pdu, .malformed) }
      return .finish(.success(.value([UInt8](first.dropFirst(2)))))
    case (.readLong(let handle, let offset), .readResponse(let piece)),
      (.readLong(let handle, let offset), .readBlobResponse(let piece)):
      octets += piece
      // A value is no longer than this (Part F, 3.2.9). Some servers have more, or ignore the offset and never end.
      let longest = max(Attribute.longestValue - Int(offset), 0)
      guard octets.count <= longest else { return .finish(.success(.cutValue([UInt8](octets.prefix(longest))))) }
      // A packet that is not full is the last one, and so is one with the end of the longest value.
      guard piece.count >= askedMTU - 1, octets.count < longest else { return .finish(.success(.value(octets))) }
      return .send(.readBlobRequest(handle, offset: offset + UInt16(octets.count)))
    case (.readMultipleVariable(let handles), .readMultipleVariableResponse(let list)):
      let found = zip(handles, LengthValueList(list)).filter { $1.isWhole }
      return .finish(.success(.values(found.map { DiscoveredValue(handle: $0, value: [UInt8]($1.value)) })))
    default: return fail(pdu, .malformed)
    }
  }

  /// Checks the value to write, and sends the first piece.
  mutating func beginWriting(_ writes: [AttributeWrite], mtu: Int) -> Step {
    for write in writes where Int(write.offset) + write.value.count > Attribute.longestValue {
      return .finish(.failure(.valueTooLong(maximum: Attribute.longestValue)))
    }
    guard !writes.isEmpty else { return .finish(.failure(.invalidParameter)) }
    unwritten = writes.reversed()
    return prepareOrExecute(mtu: mtu)
  }

  /// Takes the answer to Prepare Write or Execute Write.
  mutating func receiveWritten(_ pdu: ATTPDU, mtu: Int) -> Step {
    if let cancellation { return .finish(.failure(cancellation)) }
    switch pdu {
    case .executeWriteResponse: return .finish(.success(.done))
    case .prepareWriteResponse(let handle, let offset, let value):
      guard let piece else { return fail(pdu, .malformed) }
      // Only reliable writes require a matching echo (4.9.4, 4.9.5).
      if case .reliableWrite = procedure,
        handle != piece.handle || offset != piece.offset || !value.elementsEqual(piece.value)
      {
        return cancel(.invalidResponse(pdu.opcode, .echo))
      }
      return prepareOrExecute(mtu: mtu)
    default: return fail(pdu, .malformed)
    }
  }

  /// Cancels the prepared writes, then fails. The answer to that changes nothing.
  mutating func cancel(_ reason: GATTError) -> Step {
    if let cancellation { return .finish(.failure(cancellation)) }
    guard piece != nil else { return .finish(.failure(reason)) }
    cancellation = reason
    return .send(.executeWriteRequest(false))
  }

  /// The next piece that fits into Prepare Write. Values are split when they are sent: the MTU may increase meanwhile,
  /// as the server may exchange it, too.
  private mutating func prepareOrExecute(mtu: Int) -> Step {
    guard let write = unwritten.popLast() else {
      piece = nil
      return .send(.executeWriteRequest(true))
    }
    let size = mtu - 5
    if write.value.count > size {
      unwritten.append(
        AttributeWrite(
          handle: write.handle, offset: write.offset + UInt16(size), value: [UInt8](write.value.dropFirst(size))))
    }
    let next = AttributeWrite(handle: write.handle, offset: write.offset, value: [UInt8](write.value.prefix(size)))
    piece = next
    return .send(.prepareWriteRequest(next.handle, offset: next.offset, value: next.value[...]))
  }
}
