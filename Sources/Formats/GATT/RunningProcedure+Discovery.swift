import ATT
import Bluetooth

/// A found characteristic declaration; the next one shows its characteristic's end.
struct CharacteristicDeclaration: Sendable {
  let handle: UInt16
  let valueHandle: UInt16
  let properties: CharacteristicProperties
  let uuid: BluetoothUUID
}

extension RunningProcedure {
  /// The search's last handle.
  private var end: Int {
    switch procedure {
    case .discoverServices(_, let range), .findIncludedServices(let range), .discoverCharacteristics(let range),
      .discoverDescriptors(let range), .readByUUID(_, let range):
      Int(range.upperBound)
    default: 0xFFFF
    }
  }

  /// The findings so far.
  var found: GATTResult {
    switch procedure {
    case .discoverServices, .discoverPrimaryServices: return .services(services)
    case .findIncludedServices: return .includedServices(includes)
    case .discoverDescriptors: return .descriptors(descriptors)
    case .readByUUID: return .values(values)
    default:
      let ends = declarations.dropFirst().map { $0.handle - 1 } + [UInt16(clamping: end)]
      return .characteristics(
        zip(declarations, ends).map { declared, end in
          DiscoveredCharacteristic(
            handle: declared.handle, valueHandle: declared.valueHandle, endHandle: end, properties: declared.properties,
            uuid: declared.uuid)
        })
    }
  }

  /// True if there are any.
  var hasFound: Bool {
    !services.isEmpty || !includes.isEmpty || !declarations.isEmpty || !descriptors.isEmpty
  }

  /// Asks for the attributes from `next` on, or ends.
  mutating func search() -> Step {
    if let include = unresolved.last { return .send(.readRequest(include.range.lowerBound)) }
    guard next <= end, let start = UInt16(exactly: next) else { return .finish(.success(found)) }
    let end = UInt16(clamping: end)
    switch procedure {
    case .discoverServices(let kind, _):
      return .send(
        .readByGroupTypeRequest(start: start, end: end, type: kind == .primary ? .primaryService : .secondaryService))
    case .discoverPrimaryServices(let value):
      return .send(.findByTypeValueRequest(start: start, end: end, type: 0x2800, value: value[...]))
    case .findIncludedServices: return .send(.readByTypeRequest(start: start, end: end, type: .include))
    case .discoverCharacteristics: return .send(.readByTypeRequest(start: start, end: end, type: .characteristic))
    case .discoverDescriptors: return .send(.findInformationRequest(start: start, end: end))
    case .readByUUID(let uuid, _): return .send(.readByTypeRequest(start: start, end: end, type: uuid))
    default: return .finish(.failure(.invalidParameter))
    }
  }

  /// A fault in a list of findings.
  private enum ListFault {
    case malformed
    case handles
  }

  /// Takes an answer with findings.
  mutating func receiveFound(_ pdu: ATTPDU) -> Step {
    let fault: ListFault?
    switch (procedure, pdu) {
    case (.discoverServices, .readByGroupTypeResponse(let size, let list)):
      fault = size == 6 || size == 20 ? addServices(ElementList(list, size: size)) : .malformed
    case (.discoverPrimaryServices(let value), .findByTypeValueResponse(let list)):
      fault = addServices(ElementList(list, size: 4), uuid: BluetoothUUID(littleEndian: value))
    case (.findIncludedServices, .readByTypeResponse(let size, let list)):
      fault = size == 6 || size == 8 ? addIncludes(ElementList(list, size: size)) : .malformed
    case (.findIncludedServices, .readResponse(let value)): fault = addIncludedUUID(value)
    case (.discoverCharacteristics, .readByTypeResponse(let size, let list)):
      fault = size == 7 || size == 21 ? addCharacteristics(ElementList(list, size: size)) : .malformed
    case (.discoverDescriptors, .findInformationResponse(let uuidSize, let list)):
      fault = addDescriptors(ElementList(list, size: 2 + uuidSize))
    case (.readByUUID, .readByTypeResponse(let size, let list)):
      fault = addValues(ElementList(list, size: size))
    default: fault = .malformed
    }
    switch fault {
    case nil: return search()
    case .malformed: return fail(pdu, .malformed)
    case .handles: return .finish(.failure(.irregularHandles(found, pdu.opcode)))
    }
  }

  /// Takes a found handle: it must follow the earlier ones and be within the range.
  private mutating func advance(to handle: UInt16, through last: UInt16) -> Bool {
    guard Int(handle) >= next, last >= handle, Int(last) <= end else { return false }
    next = Int(last) + 1
    return true
  }

  private mutating func addServices(_ list: ElementList, uuid known: BluetoothUUID? = nil) -> ListFault? {
    for element in list {
      let (first, last) = (element.word(at: 0), element.word(at: 2))
      guard let uuid = known ?? BluetoothUUID(littleEndian: element.dropFirst(4)) else { return .malformed }
      // A service may end behind a search within a part of the handles.
      guard Int(first) >= next, Int(first) <= end, last >= first else { return .handles }
      next = Int(last) + 1
      services.append(DiscoveredService(range: first...last, uuid: uuid))
    }
    return nil
  }

  private mutating func addIncludes(_ list: ElementList) -> ListFault? {
    for element in list {
      let (handle, first, last) = (element.word(at: 0), element.word(at: 2), element.word(at: 4))
      guard advance(to: handle, through: handle), first > 0, first <= last else { return .handles }
      if element.count == 6 {
        unresolved.insert((handle, first...last), at: 0)
      } else {
        guard let uuid = BluetoothUUID(littleEndian: element.dropFirst(6)) else { return .malformed }
        includes.append(DiscoveredInclude(handle: handle, range: first...last, uuid: uuid))
      }
    }
    return nil
  }

  /// The UUID of an included service that has no room in the include declaration (4.5.1).
  private mutating func addIncludedUUID(_ value: ArraySlice<UInt8>) -> ListFault? {
    guard value.count == 16, let uuid = BluetoothUUID(littleEndian: value), let include = unresolved.popLast() else {
      return .malformed
    }
    includes.append(DiscoveredInclude(handle: include.handle, range: include.range, uuid: uuid))
    return nil
  }

  private mutating func addCharacteristics(_ list: ElementList) -> ListFault? {
    for element in list {
      let (handle, valueHandle) = (element.word(at: 0), element.word(at: 3))
      guard let uuid = BluetoothUUID(littleEndian: element.dropFirst(5)) else { return .malformed }
      // A value lies behind its declaration and before the next one, so that `endHandle` is never before it.
      guard handle > declarations.last?.valueHandle ?? 0, valueHandle > handle, Int(valueHandle) <= end,
        advance(to: handle, through: handle)
      else { return .handles }
      declarations.append(
        CharacteristicDeclaration(
          handle: handle, valueHandle: valueHandle,
          properties: CharacteristicProperties(rawValue: element.octet(at: 2)),
          uuid: uuid))
    }
    return nil
  }

  private mutating func addDescriptors(_ list: ElementList) -> ListFault? {
    for element in list {
      let handle = element.word(at: 0)
      guard let uuid = BluetoothUUID(littleEndian: element.dropFirst(2)) else { return .malformed }
      guard advance(to: handle, through: handle) else { return .handles }
      descriptors.append(DiscoveredDescriptor(handle: handle, uuid: uuid))
    }
    return nil
  }

  private mutating func addValues(_ list: ElementList) -> ListFault? {
    for element in list {
      let handle = element.word(at: 0)
      guard advance(to: handle, through: handle) else { return .handles }
      values.append(DiscoveredValue(handle: handle, value: [UInt8](element.dropFirst(2))))
    }
    return nil
  }
}
