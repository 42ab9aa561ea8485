import BledClient
import BledRPC
import Bluetooth
import NordicDFU

/// The start of a boot loader for Nordic's Secure DFU by the application.
@MainActor enum BootLoaderEntry {
  private static let timeout = Duration.seconds(5)
  /// The time that the application may take to disconnect.
  private static let untilRestart = Duration.seconds(10)
  /// The time until the restart when the application ends the link without an answer.
  private static let pause = Duration.seconds(1)

  /// Has the application start the boot loader.
  /// - Parameter characteristic: The one for that.
  /// - Returns: The name, address or identifier of the boot loader, and false if the link was lost before an answer.
  static func enter(
    _ device: Device, by characteristic: BluetoothUUID
  ) async throws -> (place: String, isAnswered: Bool) {
    do {
      return try await start(device, by: characteristic)
    } catch let error as BluetoothError where Device.isProtection(error) {
      let name = Output.clean(device.name)
      throw Failure("\(error); the boot loader of \(name) is for bonded devices: \"bleshell pair \(name)\" first")
    }
  }

  private static func start(
    _ device: Device, by characteristic: BluetoothUUID
  ) async throws -> (place: String, isAnswered: Bool) {
    let session = try await DFUSession(device, on: characteristic)
    defer { session.close() }
    var place = device.peripheral.identifier
    if characteristic == DFUService.buttonless {
      // Its own name, so that no other boot loader is taken for it.
      let name = "Dfu" + (0..<5).map { _ in String(Int.random(in: 0..<16), radix: 16, uppercase: true) }.joined()
      let isNamed = try await call(.setName(name), session) == .success
      place = isNamed ? name : try address(device)
    }
    var isAnswered = true
    do {
      let result = try await call(.enter, session)
      guard result == .success else {
        throw Failure("\(Output.clean(device.name)) does not start its boot loader: \(result)")
      }
    } catch let error as BluetoothError where Keeper.passes(error) {
      isAnswered = false
    }
    try await session.untilDisconnected(within: untilRestart)
    if !isAnswered { try await Task.sleep(for: pause) }
    return (place, isAnswered)
  }

  private static func call(_ request: ButtonlessRequest, _ session: DFUSession) async throws -> ButtonlessResult {
    try await session.request(request.encoded)
    let deadline = ContinuousClock.now + timeout
    while let answer = try await session.next(until: deadline) {
      if let result = request.result(answer) { return result }
    }
    throw Failure("\(Output.clean(session.device.name)) does not answer a request for its boot loader", passes: true)
  }

  private static func address(_ device: Device) throws -> String {
    let link = device.peripheral.link
    guard let kind = link.addressType.known, let address = DeviceAddress(link.address, kind: kind) else {
      throw Failure("the boot loader of \(Output.clean(device.name)) cannot be named: scan for it, mostly DfuTarg")
    }
    return "\(DFUService.bootLoaderAddress(of: address))/\(kind)"
  }
}
