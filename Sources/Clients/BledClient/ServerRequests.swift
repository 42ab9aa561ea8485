import BledRPC
import Bluetooth
import Synchronization

/// A request or subscription of a device to a service of this client.
public enum ServerEvent: Sendable {
  /// The device reads: answer.
  case read(ReadRequest)
  /// The device wrote: answer.
  case write(WriteRequest)
  /// The device subscribed.
  case subscribed(Subscriber)
  /// The device unsubscribed or disconnected.
  case unsubscribed(Subscriber)
}

/// The reason for refusing a read or write (Core 5.4, Vol 3, Part F, 3.4.1.1).
public enum ATTRefusal: Int, Hashable, Sendable {
  /// The value cannot be read.
  case readNotPermitted = 0x02
  /// The value cannot be written.
  case writeNotPermitted = 0x03
  /// The offset is greater than the value's length.
  case invalidOffset = 0x07
  /// The value's length is not valid.
  case invalidAttributeValueLength = 0x0D
  /// Something went wrong.
  case unlikelyError = 0x0E
  /// There are not enough resources.
  case insufficientResources = 0x11
  /// The value is not allowed.
  case valueNotAllowed = 0x13

  /// The error as a `BluetoothError` of the domain `att`.
  /// - Parameter message: Why; the device receives the code alone.
  public func error(_ message: String) -> BluetoothError {
    BluetoothError(domain: .att, code: rawValue, name: "\(self)", message: message)
  }
}

/// A device reads a value. A request that was not answered is refused when its last reference is released.
public struct ReadRequest: Sendable {
  /// The device, the handle and the offset.
  public let params: ServerRead.Params
  let answer: RequestAnswer

  /// Answers with the whole value; the part from the offset on is sent. An offset beyond its end is refused.
  /// - Parameter value: 0 to 512 octets.
  public func respond(_ value: [UInt8]) {
    guard params.offset >= 0, params.offset <= value.count else {
      return refuse(ATTRefusal.invalidOffset.error("the value has only \(value.count) octets"))
    }
    answer.succeed(ServerRead.Result(value: HexBytes(Array(value[params.offset...]))))
  }

  /// Answers with the part of the value that begins at the offset.
  /// - Parameter part: The octets from `params.offset` on; no more than 512 with the offset.
  public func respond(fromOffset part: [UInt8]) {
    answer.succeed(ServerRead.Result(value: HexBytes(part)))
  }

  /// Refuses; the domain of the error is `att`.
  public func refuse(_ error: BluetoothError) { answer.fail(error) }
}

/// A device wrote values. A request that was not answered is refused when its last reference is released.
public struct WriteRequest: Sendable {
  /// The device and the values; one answer is for all of them.
  public let params: ServerWrite.Params
  let answer: RequestAnswer

  /// Accepts all writes.
  public func respond() { answer.succeed(Empty()) }

  /// Refuses all writes; the domain of the error is `att`.
  public func refuse(_ error: BluetoothError) { answer.fail(error) }
}

/// The one answer to a call of the daemon.
final class RequestAnswer: Sendable {
  private let core: ClientCore
  private let id: RequestID
  private let answered = Atomic(false)

  init(core: ClientCore, id: RequestID) {
    self.core = core
    self.id = id
  }

  deinit { fail(ATTRefusal.insufficientResources.error("the program did not answer")) }

  func succeed(_ result: some RPCPayload) {
    if first { core.answer(id, result) }
  }

  func fail(_ error: BluetoothError) {
    if first { core.refuse(id, RPCError(error)) }
  }

  private var first: Bool { !answered.exchange(true, ordering: .relaxed) }
}
