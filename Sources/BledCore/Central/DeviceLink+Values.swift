import BledRPC
import Bluetooth
import GATT

extension DeviceLink {
  /// The longest value of an attribute, in octets (Core 5.4, Vol 3, Part F, 3.2.9).
  private static let longestValue = 512

  /// Reads a value of any length.
  func read(_ handle: UInt16, _ session: Session, _ reply: Reply<GATTRead.Result>) throws {
    try require(.read, of: handle, "read")
    run(
      LinkOperation(session: session, .readLong(handle)) { result in
        switch result {
        case .success(.value(let value)): reply.succeed(.init(value: HexBytes(value)))
        case .success: reply.fail(GATTResult.unexpected())
        case .failure(let error): reply.fail(error)
        }
        return nil
      })
  }

  /// Writes a value, with or without a response.
  func write(_ params: GATTWrite.Params, _ session: Session, _ reply: Reply<Empty>) throws {
    let value = params.value.octets
    guard value.count <= Self.longestValue else {
      throw BledError.invalidParameter.error("\"value\" has \(value.count) octets; 512 is the most")
    }
    guard !known.isConfiguration(params.handle) else {
      throw BledError.notPermitted.error("sessions share this descriptor: call gatt.subscribe or gatt.unsubscribe")
    }
    guard params.response ?? true else {
      try require(.writeWithoutResponse, of: params.handle, "written without response")
      guard value.count <= mtu - 3 else {
        throw BledError.invalidParameter.error(
          "\"value\" has \(value.count) octets; without response \(mtu - 3) is the most on this link")
      }
      return write(Command(handle: params.handle, value: value, reply: reply), of: session)
    }
    try require(.write, of: params.handle, "written with response")
    let procedure: GATTProcedure =
      value.count <= mtu - 3 ? .write(params.handle, value) : .writeLong(params.handle, value)
    run(
      LinkOperation(session: session, procedure) { result in
        switch result {
        case .success: reply.succeed(Empty())
        case .failure(let error): reply.fail(error)
        }
        return nil
      })
  }

  /// Refuses what a characteristic says it does not allow. Of handles that were not discovered nothing is known: the
  /// device decides.
  private func require(_ property: CharacteristicProperties, of handle: UInt16, _ verb: String) throws {
    guard handle != 0 else { throw BledError.invalidParameter.error("\"handle\" must be 1 to 65535") }
    guard let properties = known.properties(of: handle), !properties.contains(property) else { return }
    let words = properties.words.joined(separator: ", ")
    throw BledError.notAllowedByProperties.error("characteristic \(handle) cannot be \(verb); it allows: \(words)")
  }
}
