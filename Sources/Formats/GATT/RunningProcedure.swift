import ATT
import Bluetooth

/// A procedure on its way: which request follows which answer (Core 5.4, Vol 3, Part G, 4).
///
/// Every answer must advance it: handles ascend, pieces grow. So it ends with any answers from the server.
struct RunningProcedure: Sendable {
  /// The next step.
  enum Step {
    case send(ATTPDU)
    case finish(Result<GATTResult, GATTError>)
  }

  let id: ProcedureID
  let procedure: GATTProcedure
  /// The last request, in case it must be repeated.
  var packet: [UInt8] = []
  var wasRepeated = false
  /// The MTU when it was sent: its answer is no longer than that from a device that has not seen ours yet.
  var askedMTU = 0

  /// Discovery: where the next request begins; beyond 0xFFFF there is none.
  var next = 0
  var services: [DiscoveredService] = []
  var includes: [DiscoveredInclude] = []
  /// Includes with 128-bit UUIDs still to be read, the next one last.
  var unresolved: [(handle: UInt16, range: ClosedRange<UInt16>)] = []
  var declarations: [CharacteristicDeclaration] = []
  var descriptors: [DiscoveredDescriptor] = []
  var values: [DiscoveredValue] = []
  /// Long read: the parts received.
  var octets: [UInt8] = []
  /// Long and reliable write: the pieces still to be prepared, the next one last, and the piece on its way.
  var unwritten: [AttributeWrite] = []
  var piece: AttributeWrite?
  /// The reason for cancelling prepared writes; nil unless they are being cancelled.
  var cancellation: GATTError?

  init(id: ProcedureID, procedure: GATTProcedure) {
    self.id = id
    self.procedure = procedure
  }

  /// The first request.
  mutating func begin(mtu: Int, maximumMTU: Int) -> Step {
    switch procedure {
    case .exchangeMTU: return .send(.exchangeMTURequest(UInt16(clamping: maximumMTU)))
    case .discoverServices(_, let range), .findIncludedServices(let range), .discoverCharacteristics(let range),
      .discoverDescriptors(let range), .readByUUID(_, let range):
      guard range.lowerBound > 0 else { return .finish(.failure(.invalidParameter)) }
      next = Int(range.lowerBound)
      return search()
    case .discoverPrimaryServices(let value):
      guard value.count == 2 || value.count == 16 else { return .finish(.failure(.invalidParameter)) }
      next = 1
      return search()
    case .readDatabaseHash: return .send(.readByTypeRequest(start: 1, end: 0xFFFF, type: .databaseHash))
    case .read(let handle): return .send(.readRequest(handle))
    case .readLong(let handle, let offset):
      return .send(offset == 0 ? .readRequest(handle) : .readBlobRequest(handle, offset: offset))
    case .readMultiple(let handles), .readMultipleVariable(let handles):
      guard handles.count >= 2, 1 + 2 * handles.count <= mtu else { return .finish(.failure(.invalidParameter)) }
      var list: [UInt8] = []
      for handle in handles { list.append(word: handle) }
      if case .readMultiple = procedure { return .send(.readMultipleRequest(list[...])) }
      return .send(.readMultipleVariableRequest(list[...]))
    case .write(let handle, let value):
      guard value.count <= mtu - 3 else { return .finish(.failure(.valueTooLong(maximum: mtu - 3))) }
      return .send(.writeRequest(handle, value: value[...]))
    case .subscribe(let handle, let configuration):
      var value: [UInt8] = []
      value.append(word: configuration.rawValue)
      return .send(.writeRequest(handle, value: value[...]))
    case .writeLong(let handle, let value, let offset):
      return beginWriting([AttributeWrite(handle: handle, offset: offset, value: value)], mtu: mtu)
    case .reliableWrite(let writes): return beginWriting(writes, mtu: mtu)
    case .writeWithoutResponse, .signedWrite:
      // They have no answer and never run.
      return .finish(.success(.done))
    }
  }

  /// Takes the answer to the last request.
  mutating func receive(_ pdu: ATTPDU, mtu: Int) -> Step {
    if case .errorResponse(_, let handle, let error) = pdu { return receive(error, at: handle) }
    switch procedure {
    case .exchangeMTU: return .finish(.success(.mtu(mtu)))
    case .read, .readLong, .readMultiple, .readMultipleVariable, .readDatabaseHash: return receiveValue(pdu)
    case .write, .subscribe: return .finish(.success(.done))
    case .writeLong, .reliableWrite: return receiveWritten(pdu, mtu: mtu)
    case .discoverServices, .discoverPrimaryServices, .findIncludedServices, .discoverCharacteristics,
      .discoverDescriptors, .readByUUID:
      return receiveFound(pdu)
    case .writeWithoutResponse, .signedWrite: return .finish(.success(.done))
    }
  }

  private mutating func receive(_ error: ATTErrorCode, at handle: UInt16) -> Step {
    let failure = GATTError.att(error, handle: handle)
    switch procedure {
    case .discoverServices, .discoverPrimaryServices, .discoverCharacteristics, .discoverDescriptors,
      .findIncludedServices:
      // Attribute Not Found is how a search ends.
      if error == .attributeNotFound, unresolved.isEmpty { return .finish(.success(found)) }
      return .finish(.failure(hasFound && !error.isToBeTold ? .partlyRefused(found, error, handle: handle) : failure))
    case .readByUUID:
      // Without any findings the caller gets the error; otherwise any error ends the search.
      return values.isEmpty ? .finish(.failure(failure)) : .finish(.success(found))
    case .readLong:
      // A value ending with a packet is complete, even if the server refuses the request for more. A server that does
      // not know the request may have more.
      switch error {
      case _ where octets.isEmpty: return .finish(.failure(failure))
      case .invalidOffset, .attributeNotLong, .attributeNotFound: return .finish(.success(.value(octets)))
      case .requestNotSupported: return .finish(.success(.cutValue(octets)))
      default: return .finish(.failure(failure))
      }
    case .writeLong, .reliableWrite: return cancel(failure)
    default: return .finish(.failure(failure))
    }
  }

  func fail(_ pdu: ATTPDU, _ fault: GATTError.ResponseFault) -> Step {
    .finish(.failure(.invalidResponse(pdu.opcode, fault)))
  }
}
