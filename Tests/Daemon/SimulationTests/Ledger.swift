import BledRPC
import Bluetooth

/// Requests of one client and the answers to them, judged by the rules.
struct Ledger {
  /// The subject of a request.
  enum Concern: Equatable {
    case connect(address: String, timeout: Double?)
    case disconnect
    /// A read, a write with response or a discovery: answered in the order of the client's requests.
    case procedure(peripheral: String)
    /// Anything else on a device.
    case device(peripheral: String)
    case subscribe(peripheral: String, handle: UInt16)
    case unsubscribe(peripheral: String, handle: UInt16)
    case scan(isOn: Bool)
    case advertise
    case stopAdvertising(Int)
    case addService
    case removeService(UInt16)
    case other

    /// The device that it is about.
    var peripheral: String? {
      switch self {
      case .procedure(let id), .device(let id), .subscribe(let id, _), .unsubscribe(let id, _): id
      default: nil
      }
    }
  }

  struct Request {
    let number: Int
    let method: String
    let concern: Concern
    let time: Instant
  }

  /// The requests without an answer.
  private(set) var open: [Int: Request] = [:]
  private(set) var last = 0
  /// The last procedure of each device that was answered with success.
  private var answeredLast: [String: Int] = [:]

  /// Notes a request.
  /// - Returns: its id.
  mutating func ask(_ method: String, _ concern: Concern, at time: Instant) -> Int {
    last += 1
    open[last] = Request(number: last, method: method, concern: concern, time: time)
    return last
  }

  /// Notes an answer.
  /// - Returns: the request; nil without one, or if it was answered before. The broken rule is in `fault`.
  mutating func answer(_ id: RequestID?, isSuccess: Bool, fault: inout String?) -> Request? {
    guard case .number(let number)? = id, let request = open.removeValue(forKey: number) else {
      fault = "an answer to \(id.map { "\($0)" } ?? "nothing"), which waits for none"
      return nil
    }
    guard isSuccess, case .procedure(let peripheral) = request.concern else { return request }
    if let before = answeredLast[peripheral], before > number {
      fault = "\(request.method) \(number) on \(peripheral) was answered after \(before)"
    }
    answeredLast[peripheral] = number
    return request
  }

  /// The open requests that meet a condition, the oldest first.
  func waiting(_ condition: (Concern) -> Bool) -> [Request] {
    open.values.filter { condition($0.concern) }.sorted { $0.number < $1.number }
  }

  /// True if a pending request may change the daemon's requests to adapters.
  func isUncertain(_ condition: (Concern) -> Bool) -> Bool { open.values.contains { condition($0.concern) } }
}
