import Adapter
import Bluetooth
import HCI
import TestSupport

/// The air between emulated controllers, under virtual time and with one source of chance.
final class EmulatedAir {
  let scheduler: VirtualScheduler
  var controllers: [EmulatedController] = []
  private(set) var links: [EmulatedLink] = []
  var hosts: [RandomHost] = []
  private var random: SeededRandom
  /// The rules that hosts have broken.
  private(set) var faults: [String] = []
  private(set) var counters: [String: Int] = [:]

  init(_ scheduler: VirtualScheduler, seed: UInt64) {
    self.scheduler = scheduler
    random = SeededRandom(seed: seed)
  }

  // MARK: Chance and time

  func number(in range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
  func chance(_ percent: Int) -> Bool { number(in: 1...100) <= percent }
  func any<Element>(of all: [Element]) -> Element? { all.randomElement(using: &random) }
  /// Octets without meaning.
  func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }

  /// Does something within a range of milliseconds.
  func after(_ milliseconds: ClosedRange<Int>, _ work: @escaping () -> Void) {
    _ = scheduler.schedule(after: .milliseconds(number(in: milliseconds)), work)
  }

  func fault(_ words: String) {
    faults.append("at \(Int(Instant.zero.duration(to: scheduler.now).inSeconds)) s: \(words)")
  }
  func count(_ subject: String, _ number: Int = 1) { counters[subject, default: 0] += number }

  // MARK: Advertisements

  /// A controller sends an advertisement.
  func advertise(_ advertiser: EmulatedController, _ parameters: LESetAdvertisingParameters, _ data: [UInt8]) {
    let address = advertiser.address(parameters.ownAddressType)
    for receiver in controllers where receiver !== advertiser && receiver.isReachable {
      if receiver.isScanning { receiver.report(address, parameters.type, data) }
      guard parameters.type == .connectableUndirected, receiver.wants(address),
        !links.contains(where: { $0.joins(advertiser, receiver) })
      else { continue }
      return connect(receiver, advertiser, address)
    }
  }

  private func connect(_ central: EmulatedController, _ peripheral: EmulatedController, _ address: HCIAddress) {
    guard let initiator = central.initiated() else { return }
    let link = EmulatedLink(central, peripheral, on: self)
    links.append(link)
    count("links")
    link.begin(central.address(initiator.ownAddressType), address)
    peripheral.stopAdvertising()
  }

  func remove(_ link: EmulatedLink) { links.removeAll { $0 === link } }
  func end(_ handle: ConnectionHandle, of controller: EmulatedController) -> EmulatedLink.End? {
    links.lazy.flatMap(\.ends).first { $0.controller === controller && $0.handle == handle && !$0.isOver }
  }

  /// A controller has forgotten its links, or is away: the other ends notice.
  func lose(_ controller: EmulatedController) {
    for link in links where link.ends.contains(where: { $0.controller === controller }) { link.lose(controller) }
  }
}
