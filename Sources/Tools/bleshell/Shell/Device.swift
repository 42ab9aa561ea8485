import BledClient
import BledRPC
import Bluetooth
import ValueFormats

/// A connected device with its known properties.
@MainActor final class Device {
  let peripheral: Peripheral
  /// The name to show.
  let name: String
  /// True while the connection is lost, and bled reconnects.
  var isLost = false
  /// The names and formats of its attributes.
  var naming: AttributeNaming
  /// The descriptors with names and formats that were read, or refused.
  var askedDescriptors: Set<UInt16> = []
  private let output: Output
  private var services: [ServiceDescription]?
  /// The attributes that were refused for lack of protection, by handle, with the name of the error.
  private(set) var protections: [UInt16: String] = [:]
  /// The values that were not expected yet, by handle.
  private var listenings: [UInt16: AsyncThrowingStream<[UInt8], any Error>] = [:]
  /// The characteristics with values shown on reception.
  private var shown: Set<UInt16> = []
  /// By characteristic, the number of commands that print its values, and of printed values that the stream of `listen`
  /// has not reached.
  private var printing: [UInt16: (commands: Int, ahead: Int)] = [:]
  /// Not nil once values were listened to.
  private var losses: Observation?

  init(peripheral: Peripheral, name: String, names: NameList, output: Output) {
    naming = AttributeNaming(list: names, address: peripheral.link.address)
    self.peripheral = peripheral
    self.name = name
    self.output = output
  }

  deinit { losses?.cancel() }

  /// True if its address changes, and bled has no keys that would resolve it.
  var isPrivate: Bool {
    let link = peripheral.link
    guard let address = DeviceAddress(link.address, kind: link.addressType.known ?? .public) else { return false }
    return !address.isIdentity
  }

  /// The text of a prompt.
  var label: String { isLost ? "\(name), not connected" : name }

  /// Its services, discovered at the first use.
  func tree() async throws -> [ServiceDescription] {
    if let services { return services }
    let progress = output.progress("Discovering the services of \(name)")
    defer { progress.end() }
    return try await tree { [name] in progress.change("Discovering the services of \(name): \($0)") }
  }

  /// Reads the tree, without a line on the terminal.
  /// - Parameter tells: Called with the number of attributes found so far.
  func tree(tells: @escaping @Sendable (String) -> Void) async throws -> [ServiceDescription] {
    if let services { return services }
    let services = try await peripheral.discover {
      tells("\($0.services) services, \($0.characteristics) characteristics")
    }
    self.services = services
    return services
  }

  /// The values of a characteristic since the first call for it; one reader at a time.
  /// - Parameter show: Called with each on reception. The newest of unread values are kept then.
  func listen(
    to attribute: Attribute, show: (@MainActor ([UInt8]) -> Void)? = nil
  ) async throws -> AsyncThrowingStream<[UInt8], any Error> {
    if let values = listenings[attribute.handle] { return values }
    let values = try await peripheral.subscribe(attribute.handle)
    losses = losses ?? observeLosses { [weak self] in self?.lost($0) }
    guard let show else {
      listenings[attribute.handle] = values
      return values
    }
    let (copies, copy) = AsyncThrowingStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(256))
    let showing = Task { @MainActor [weak self] in
      do {
        for try await value in values {
          if self?.isToBeShown(attribute) ?? true { show(value) }
          copy.yield(value)
        }
        copy.finish()
      } catch {
        copy.finish(throwing: error)
      }
    }
    copy.onTermination = { _ in showing.cancel() }
    (listenings[attribute.handle], _) = (copies, shown.insert(attribute.handle))
    printing[attribute.handle]?.ahead = 0
    return copies
  }

  /// A command that prints values reports their loss itself.
  private func lost(_ text: String) {
    guard !listenings.isEmpty, !printing.values.contains(where: { $0.commands > 0 }) else { return }
    output.problem("\(name): \(text)")
  }

  /// True if the values of a characteristic are shown on reception.
  func isShown(_ attribute: Attribute) -> Bool { shown.contains(attribute.handle) }

  /// A command begins or ends to print the values of a characteristic: meanwhile they are not shown a second time.
  func isPrinting(_ attribute: Attribute, _ begins: Bool) {
    printing[attribute.handle, default: (0, 0)].commands += begins ? 1 : -1
  }

  /// Such a command prints a value.
  func prints(_ attribute: Attribute) {
    if isShown(attribute) { printing[attribute.handle]?.ahead += 1 }
  }

  /// True for a value of `listen` that no command prints. Its stream may be behind that of the command.
  private func isToBeShown(_ attribute: Attribute) -> Bool {
    guard let (commands, ahead) = printing[attribute.handle] else { return true }
    guard commands == 0, ahead <= 0 else {
      printing[attribute.handle]?.ahead -= 1
      return false
    }
    printing[attribute.handle] = nil
    return true
  }

  /// All readers were given up.
  func stopListening() { (listenings, shown) = ([:], []) }

  /// The reader was given up, which ends the stream: the next one subscribes again.
  func stopListening(to attribute: Attribute) {
    listenings[attribute.handle] = nil
    shown.remove(attribute.handle)
  }

  /// Reads a value, and keeps in mind if the device protects it.
  func read(_ handle: UInt16) async throws -> [UInt8] {
    do throws(BluetoothError) {
      return try await peripheral.read(handle)
    } catch {
      noticeProtection(error, handle)
      throw error
    }
  }

  /// Reads a characteristic named by UUIDs, without a full discovery; otherwise as `read` with a handle.
  /// - Returns: nil for none, or several: the text may mean something else, which the tree shows.
  func read(_ path: AttributePath, text: String) async throws -> GATTRead.Result? {
    do throws(BluetoothError) {
      return try await peripheral.client.call(
        GATTRead.self, .init(peripheral: peripheral.identifier, attribute: path))
    } catch {
      let unclear: [BledError] = [.unknownAttribute, .ambiguousAttribute]
      if error.domain == .bled, unclear.contains(where: { $0.rawValue == error.code }) { return nil }
      if Self.isProtection(error), let handle = try? await tree().attribute(text).handle {
        noticeProtection(error, handle)
      }
      throw error
    }
  }

  /// Writes a value; otherwise as `read`.
  func write(_ value: [UInt8], to handle: UInt16, response: Bool) async throws {
    do throws(BluetoothError) {
      try await peripheral.write(value, to: handle, response: response)
    } catch {
      noticeProtection(error, handle)
      throw error
    }
  }

  /// Insufficient authentication, authorization, key size and encryption (Core 5.4, Vol 3, Part F, 3.4.1.1).
  private static let protectionCodes = [0x05, 0x08, 0x0C, 0x0F]

  private func noticeProtection(_ error: BluetoothError, _ handle: UInt16) {
    if Self.isProtection(error) { protections[handle] = error.name }
  }

  /// True if a device refused an operation for lack of a pairing.
  static func isProtection(_ error: BluetoothError) -> Bool {
    error.domain == .att && protectionCodes.contains(error.code)
  }

  /// Waits until the link ends.
  /// - Throws: `Failure`, which says so; `BluetoothError` if bled cannot be asked.
  func untilLost() async throws {
    let ends = peripheral.client.notifications(PeripheralDisconnected.self) { [identifier = peripheral.identifier] in
      $0.peripheral == identifier
    }
    let known = try await peripheral.client.call(PeripheralList.self, Empty()).peripherals
    // An earlier end was not heard.
    if known.contains(where: { $0.peripheral == peripheral.identifier && $0.mine }) {
      for try await _ in ends { break }
    }
    try Task.checkCancellation()
    throw Failure("\(name) disconnected", passes: true)
  }

  /// Makes the next `tree` discover again.
  func forgetTree() { services = nil }

  /// The connection was lost: forgets the attributes and subscriptions.
  func forgetAll() {
    (services, listenings, protections, shown, askedDescriptors) = (nil, [:], [:], [], [])
    naming = AttributeNaming(list: naming.list, address: naming.address)
  }

  /// The tree as far as it is known without discovery.
  var knownTree: [ServiceDescription] { services ?? [] }
}
