import BledClient
import BledRPC
import Bluetooth
import NordicDFU

/// Requests of Nordic's Secure DFU to an application or a boot loader over one link.
@MainActor final class DFUSession {
  /// The part of a device that a link leads to.
  enum Place {
    /// An application, with the characteristic that starts the boot loader.
    case application(BluetoothUUID)
    case bootLoader
  }

  let device: Device
  /// Octets of a packet.
  let packet: Int
  private let characteristic: BluetoothUUID
  private let answers = AnswerQueue<[UInt8]>()
  private let start = ContinuousClock.now
  private var reading: Task<Void, Never>?

  /// Subscribes to the answers.
  /// - Parameter characteristic: The one that requests are written to.
  init(_ device: Device, on characteristic: BluetoothUUID) async throws {
    (self.device, self.characteristic) = (device, characteristic)
    packet = try await device.packetLength()
    let values = try await device.peripheral.subscribe(Self.path(characteristic))
    reading = Task { @MainActor [answers] in
      do {
        for try await value in values { answers.receive([value]) }
        answers.ended(GAPError.disconnected.error("the device disconnected"))
      } catch {
        answers.ended(error)
      }
    }
  }

  /// Ends the subscription.
  func close() { reading?.cancel() }

  /// The part of a device that runs.
  /// - Throws: `Failure` for a device without Secure DFU.
  static func place(_ device: Device) async throws -> Place {
    let found = try await device.tree().filter { $0.uuid == DFUService.uuid }.flatMap { $0.characteristics ?? [] }
    let uuids = found.map(\.uuid)
    if uuids.contains(DFUService.controlPoint), uuids.contains(DFUService.packet) { return .bootLoader }
    let entries = [DFUService.buttonlessWithBonds, DFUService.buttonless]
    if let entry = entries.first(where: uuids.contains) { return .application(entry) }
    throw Failure(
      "\(Output.clean(device.name)) has no service of Nordic's Secure DFU (FE59) that starts its boot loader: "
        + "start that by hand, and name it instead, mostly DfuTarg; \"services\" lists the services")
  }

  private static func path(_ uuid: BluetoothUUID) -> AttributePath { .characteristic(uuid, of: DFUService.uuid) }

  /// The time, for machines.
  var now: Instant { Instant.zero.advanced(by: start.duration(to: .now)) }

  /// Writes a request.
  func request(_ octets: [UInt8]) async throws {
    try await device.peripheral.write(octets, to: Self.path(characteristic), response: true)
  }

  /// Writes octets of an object.
  func packet(_ octets: [UInt8]) async throws {
    try await device.peripheral.write(octets, to: Self.path(DFUService.packet), response: false)
  }

  /// The next answer; nil if none has come in time.
  func next(until deadline: ContinuousClock.Instant) async throws -> [UInt8]? {
    try await answers.next(until: deadline)
  }

  /// Waits until the device has ended the link.
  /// - Throws: `Failure` if it does not.
  func untilDisconnected(within limit: Duration) async throws {
    do {
      // A subscription may end before, with the services of the application.
      _ = try await withDeadline(limit / .seconds(1)) { @MainActor [device] in try await device.untilLost() }
    } catch let error where Keeper.passes(error) {
      return
    }
    throw Failure("\(Output.clean(device.name)) does not restart", passes: true)
  }
}
