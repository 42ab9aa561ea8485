import ATT
import Bluetooth

extension RunningProcedure {
  /// Takes the answer to a read.
  mutating func takeValue(_ pdu: ATTPDU, mtu: Int) -> Step {
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
      guard Int(offset) + octets.count <= Attribute.longestValue else { return fail(pdu, .tooLong) }
      // A packet that is not full is the last one, and so is one that brings the longest value.
      guard piece.count >= mtu - 1, Int(offset) + octets.count < Attribute.longestValue else {
        return .finish(.success(.value(octets)))
      }
      return .send(.readBlobRequest(handle, offset: offset + UInt16(octets.count)))
    case (.readMultipleVariable(let handles), .readMultipleVariableResponse(let list)):
      let found = zip(handles, LengthValueList(list)).filter { $1.isWhole }
      return .finish(.success(.values(found.map { DiscoveredValue(handle: $0, value: [UInt8]($1.value)) })))
    default: return fail(pdu, .malformed)
    }
  }

  /// Cuts values into pieces that fit into Prepare Write and asks for the first.
  mutating func beginWriting(_ writes: [AttributeWrite], mtu: Int) -> Step {
    let size = mtu - 5
    for write in writes {
      guard Int(write.offset) + write.value.count <= Attribute.longestValue else {
        return .finish(.failure(.valueTooLong(maximum: Attribute.longestValue)))
      }
      var position = 0
      repeat {
        let piece = [UInt8](write.value.dropFirst(position).prefix(size))
        pieces.append(AttributeWrite(handle: write.handle, offset: write.offset + UInt16(position), value: piece))
        position += size
      } while position < write.value.count
    }
    guard !pieces.isEmpty else { return .finish(.failure(.invalidParameter)) }
    return prepareOrExecute()
  }

  /// Takes the answer to Prepare Write or Execute Write.
  mutating func takeWritten(_ pdu: ATTPDU) -> Step {
    if let cancellation { return .finish(.failure(cancellation)) }
    switch pdu {
    case .executeWriteResponse: return .finish(.success(.done))
    case .prepareWriteResponse(let handle, let offset, let value):
      guard prepared < pieces.count else { return fail(pdu, .malformed) }
      let piece = pieces[prepared]
      // Only reliable writes take the echo for a proof (4.9.4, 4.9.5).
      if case .reliableWrite = procedure,
        handle != piece.handle || offset != piece.offset || !value.elementsEqual(piece.value)
      {
        return cancel(.invalidResponse(pdu.opcode, .echo))
      }
      prepared += 1
      return prepareOrExecute()
    default: return fail(pdu, .malformed)
    }
  }

  /// Lets the server forget what was prepared, then fails. What it answers to that changes nothing.
  mutating func cancel(_ reason: GATTError) -> Step {
    if let cancellation { return .finish(.failure(cancellation)) }
    guard prepared < pieces.count else { return .finish(.failure(reason)) }
    cancellation = reason
    return .send(.executeWriteRequest(false))
  }

  private func prepareOrExecute() -> Step {
    guard prepared < pieces.count else { return .send(.executeWriteRequest(true)) }
    let piece = pieces[prepared]
    return .send(.prepareWriteRequest(piece.handle, offset: piece.offset, value: piece.value[...]))
  }
}
