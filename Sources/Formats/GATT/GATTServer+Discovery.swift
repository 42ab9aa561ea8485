import ATT
import Bluetooth

extension GATTServer {
  /// Find Information (Core 5.4, Vol 3, Part F, 3.4.3.1): handles and types, as long as the types have one length.
  func findInformation(
    _ start: UInt16, _ end: UInt16, _ bearer: inout BearerState, _ database: AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    guard start > 0, start <= end else {
      return bearer.respond(error: .invalidHandle, to: .findInformationRequest, at: start, &actions)
    }
    var packet: [UInt8] = []
    var isShort = false
    var place = database.position(notBelow: start)
    while let position = place {
      let (handle, type) = (database[position].handle, database[position].type)
      if handle > end { break }
      let fits = type.short16 != nil
      if packet.isEmpty {
        isShort = fits
        packet.reserveCapacity(bearer.mtu)
        packet.append(ATTOpcode.findInformationResponse.rawValue)
        packet.append(isShort ? 1 : 2)
      }
      guard fits == isShort, packet.count + (isShort ? 4 : 18) <= bearer.mtu else { break }
      packet.append(word: handle)
      packet.append(uuid: type)
      place = database.position(after: position)
    }
    guard !packet.isEmpty else {
      return bearer.respond(error: .attributeNotFound, to: .findInformationRequest, at: start, &actions)
    }
    bearer.respond(packet, &actions)
  }

  /// Find By Type Value (3.4.3.3): attributes with a type and exactly this stored value. A UUID matches in both of its
  /// lengths.
  func findByTypeValue(
    _ start: UInt16, _ end: UInt16, _ type: BluetoothUUID, _ value: ArraySlice<UInt8>, _ bearer: inout BearerState,
    _ database: AttributeDatabase, _ actions: inout [GATTAction]
  ) {
    guard start > 0, start <= end else {
      return bearer.respond(error: .invalidHandle, to: .findByTypeValueRequest, at: start, &actions)
    }
    let isService = type == .primaryService || type == .secondaryService
    let wanted = isService && value.count == 16 ? BluetoothUUID(littleEndian: value)?.attOctets[...] ?? value : value
    var packet: [UInt8] = []
    for handle in database.handles(ofType: type, in: start...end) {
      guard let position = database.position(of: handle), case .stored(let stored) = database[position].source,
        stored.elementsEqual(wanted), refusal(.read, database[position]) == nil
      else { continue }
      if packet.isEmpty {
        packet.reserveCapacity(bearer.mtu)
        packet.append(ATTOpcode.findByTypeValueResponse.rawValue)
      }
      guard packet.count + 4 <= bearer.mtu else { break }
      packet.append(word: handle)
      packet.append(word: database.groupEnd(of: position))
    }
    guard !packet.isEmpty else {
      return bearer.respond(error: .attributeNotFound, to: .findByTypeValueRequest, at: start, &actions)
    }
    bearer.respond(packet, &actions)
  }

  /// Read By Group Type (3.4.4.9): services, as long as their UUIDs have one length.
  func readByGroupType(
    _ start: UInt16, _ end: UInt16, _ type: BluetoothUUID, _ bearer: inout BearerState, _ database: AttributeDatabase,
    _ actions: inout [GATTAction]
  ) {
    let request = ATTOpcode.readByGroupTypeRequest
    guard start > 0, start <= end else {
      return bearer.respond(error: .invalidHandle, to: request, at: start, &actions)
    }
    guard type == .primaryService || type == .secondaryService else {
      return bearer.respond(error: .unsupportedGroupType, to: request, at: start, &actions)
    }
    var packet: [UInt8] = []
    var size = 0
    for handle in database.handles(ofType: type, in: start...end) {
      guard let position = database.position(of: handle), case .stored(let uuid) = database[position].source else {
        continue
      }
      if packet.isEmpty {
        size = 4 + uuid.count
        packet.reserveCapacity(bearer.mtu)
        packet.append(ATTOpcode.readByGroupTypeResponse.rawValue)
        packet.append(UInt8(size))
      }
      guard 4 + uuid.count == size, packet.count + size <= bearer.mtu else { break }
      packet.append(word: handle)
      packet.append(word: database.groupEnd(of: position))
      packet += uuid
    }
    guard !packet.isEmpty else { return bearer.respond(error: .attributeNotFound, to: request, at: start, &actions) }
    bearer.respond(packet, &actions)
  }
}

extension AttributeDatabase {
  /// The last handle of the group begun by an attribute: a service's end, otherwise the attribute itself.
  fileprivate func groupEnd(of position: Position) -> UInt16 {
    let type = self[position].type
    return type == .primaryService || type == .secondaryService
      ? entries[position.service].registered.range.upperBound : self[position].handle
  }
}
