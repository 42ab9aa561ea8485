import Adapter
import HCI

/// The data waiting for subevents, and the responses from devices (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
///
/// | Subevent | Input                             | Actions, next state                                       |
/// |----------|-----------------------------------|-----------------------------------------------------------|
/// | empty    | `want`                            | none → waiting                                            |
/// | waiting  | `want`                            | the earlier data is answered as cancelled → waiting       |
/// | waiting  | the controller requests its data  | a command with all that fits, under their numbers → empty |
/// | empty    | that command has several and was too late | each alone, once                                          |
/// | waiting  | the train is no longer wanted     | answered as unknown → empty                               |
/// | any      | the controller requests its data, and there is none | nothing: the subevent is sent without                     |
/// | any      | part of a response                | kept until the rest is received                           |
struct SubeventMachine {
  /// An advertisement whose train has slots for responses.
  typealias Responder = (set: AdvertisingSetID, slots: ResponseSlots)
  /// A command for the controller, its questions, and if these are several a command for each of them alone.
  typealias Question = (numbers: [Int], packet: CommandPacket, apart: [CommandPacket])

  private struct Place: Hashable {
    let set: AdvertisingSetID
    let subevent: UInt8
  }

  private struct Slot: Hashable {
    let place: Place
    let number: UInt8
  }

  /// No response is longer.
  private static let longest = 251
  /// More responses than there can be parts of.
  private static let maximumFragments = 1024

  private var waiting: [Place: (number: Int, data: SubeventData)] = [:]
  private var fragments: [Slot: [UInt8]] = [:]

  /// True if no data waits.
  var isIdle: Bool { waiting.isEmpty }

  /// Data is to be sent at the controller's next request.
  mutating func want(_ data: SubeventData, of set: AdvertisingSetID, question number: Int) -> [RadioAction] {
    let former = waiting.updateValue((number, data), forKey: Place(set: set, subevent: data.subevent))
    return former.map { [Self.refusal($0.number, .operationCancelledByHost)] } ?? []
  }

  /// Drops the data for trains no longer wanted.
  mutating func settle(_ isWanted: (AdvertisingSetID) -> Bool) -> [RadioAction] {
    let over = waiting.filter { !isWanted($0.key.set) }
    for place in over.keys { waiting[place] = nil }
    return over.values.map(\.number).sorted().map { Self.refusal($0, .unknownAdvertisingIdentifier) }
  }

  /// The controller is about to send a train's subevents.
  mutating func requested(
    _ event: LEPeriodicAdvertisingSubeventDataRequest, by responder: Responder?
  ) -> [Question] {
    guard let (set, slots) = responder else { return [] }
    fragments = fragments.filter { $0.key.place.set != set }
    let count = max(1, slots.subevents)
    let next = (0..<min(Int(event.count), count)).compactMap { offset in
      waiting.removeValue(forKey: Place(set: set, subevent: UInt8(clamping: (Int(event.first) + offset) % count)))
    }
    func command(_ data: [SubeventData]) -> CommandPacket {
      CommandPacket(
        LESetPeriodicAdvertisingSubeventData {
          $0.advertisingHandle = event.advertisingHandle
          $0.subevents = data.map { .init($0) }
        })
    }
    return Self.packed(next).map { part in
      (part.map(\.number), command(part.map(\.data)), part.count > 1 ? part.map { command([$0.data]) } : [])
    }
  }

  /// As much data as fits goes into one command, in order.
  private static func packed(_ data: [(number: Int, data: SubeventData)]) -> [[(number: Int, data: SubeventData)]] {
    typealias Command = LESetPeriodicAdvertisingSubeventData
    var (parts, room): ([[(number: Int, data: SubeventData)]], Int) = ([], 0)
    for next in data {
      let needed = Command.fixed + next.data.data.count
      if let last = parts.last, last.count < Command.maximum, needed <= room {
        parts[parts.count - 1].append(next)
      } else {
        parts.append([next])
        room = Command.fixed + Command.longest
      }
      room -= needed
    }
    return parts
  }

  /// The controller reports a subevent's slots.
  mutating func received(_ event: LEPeriodicAdvertisingResponseReport, by responder: Responder?) -> [RadioAction] {
    guard let set = responder?.set else { return [] }
    var received = SubeventResponses(subevent: event.number, wasSent: event.txStatus == 0, responses: [])
    for response in event.responses {
      let slot = Slot(place: Place(set: set, subevent: event.number), number: response.slot)
      let former = fragments.removeValue(forKey: slot) ?? []
      let data = former + response.data.prefix(max(0, Self.longest - former.count))
      switch response.dataStatus {
      case 1: if fragments.count < Self.maximumFragments { fragments[slot] = data }
      case 0, 2:
        received.responses.append(
          .init(
            slot: response.slot, data: data, rssi: Self.power(response.rssi), txPower: Self.power(response.txPower),
            isTruncated: response.dataStatus == 2))
      default: break
      }
    }
    return received.wasSent && received.responses.isEmpty ? [] : [.responses(set, received)]
  }

  private static func refusal(_ number: Int, _ code: HCIErrorCode) -> RadioAction {
    .answered(
      question: number, CommandSlot.Answer(opcode: .none, status: HCIStatus(code), complete: nil))
  }

  /// In dBm; 127 where it is not known.
  private static func power(_ value: Int8) -> Int? { value == 127 ? nil : Int(value) }
}

extension LESetPeriodicAdvertisingSubeventData.Subevent {
  fileprivate init(_ data: SubeventData) {
    self.init()
    (number, firstSlot, slots) = (data.subevent, data.firstSlot, data.slots)
    self.data = data.data
  }
}

extension AdvertisingMachine {
  /// The set with this handle, if its train has slots for responses.
  func responder(_ handle: UInt8) -> SubeventMachine.Responder? {
    entries.first { $0.value.handle == handle }.flatMap { set, entry in
      entry.wanted?.periodic?.responses.map { (set, $0) }
    }
  }

  /// True if a train with slots for responses is wanted.
  func respondsTo(_ set: AdvertisingSetID) -> Bool { entries[set]?.wanted?.periodic?.responses != nil }
}
