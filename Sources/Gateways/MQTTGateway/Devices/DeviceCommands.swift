import BledConnection
import BledRPC
import Bluetooth

/// Reads and writes of single values: the commands for one device go one after the other, over one link.
final class DeviceCommands {
  typealias Completion = (Result<[UInt8], CommandAnswer.Failure>) -> Void

  private struct Job {
    let command: Command
    let target: Command.Target
    let completion: Completion
  }

  /// Maximum commands, including running ones.
  private static let maximum = 32
  /// The time of a connection attempt in seconds.
  private static let timeout = 20.0

  private let subscribed: SubscribedDevices
  private var session: DaemonSession?
  /// By the address of the device; the first of each is running.
  private var jobs: [UInt64: [Job]] = [:]
  /// The links that were made for commands.
  private var links: [UInt64: String] = [:]

  init(_ subscribed: SubscribedDevices) { self.subscribed = subscribed }

  /// The number of waiting commands.
  var count: Int { jobs.values.reduce(0) { $0 + $1.count } }

  func began(_ session: DaemonSession) { self.session = session }

  /// The connection to bled is lost: its session has answered the running commands.
  func lost() {
    session = nil
    links = [:]
    let waiting = jobs.values.flatMap { $0 }
    jobs = [:]
    for job in waiting { job.completion(.failure(CommandAnswer.Failure("the connection to bled is lost"))) }
  }

  /// Runs a command. The completion is called once.
  func run(_ command: Command, _ target: Command.Target, _ completion: @escaping Completion) {
    guard session != nil else { return completion(.failure(CommandAnswer.Failure("bled is not there"))) }
    guard count < Self.maximum else {
      return completion(.failure(CommandAnswer.Failure("\(Self.maximum) commands wait already: try again later")))
    }
    let key = target.address.value
    jobs[key, default: []].append(Job(command: command, target: target, completion: completion))
    if jobs[key]?.count == 1 { begin(key) }
  }

  private func begin(_ key: UInt64) {
    guard let job = jobs[key]?.first else { return leave(key) }
    switch subscribed.link(to: job.target.address) {
    case .linked(let peripheral): perform(job, key, peripheral)
    case .waiting:
      finish(key, .failure(CommandAnswer.Failure("the device is not connected; the gateway waits for it")))
    case nil:
      if let peripheral = links[key] { perform(job, key, peripheral) } else { connect(job, key) }
    }
  }

  private func connect(_ job: Job, _ key: UInt64) {
    session?.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(
        address: "\(job.target.address)",
        addressType: job.target.hasType ? job.target.address.kind : nil, timeout: Self.timeout)
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let link):
        links[key] = link.peripheral
        perform(job, key, link.peripheral)
      case .failure(let error): finish(key, .failure(CommandAnswer.Failure(error)))
      }
    }
  }

  private func perform(_ job: Job, _ key: UInt64, _ peripheral: String) {
    let attribute = AttributePath.characteristic(job.target.characteristic, of: job.target.service)
    switch job.command {
    case .read:
      session?.call(GATTRead.self, GATTRead.Params(peripheral: peripheral, attribute: attribute)) {
        [weak self] result in
        self?.finish(key, result.map(\.value.octets).mapError { CommandAnswer.Failure($0) })
      }
    case .write(_, let value, let response):
      session?.call(
        GATTWrite.self,
        GATTWrite.Params(
          peripheral: peripheral, attribute: attribute, value: HexBytes(value), response: response ? nil : false)
      ) { [weak self] result in
        self?.finish(key, result.map { _ in [] }.mapError { CommandAnswer.Failure($0) })
      }
    case .scan: finish(key, .success([]))
    }
  }

  private func finish(_ key: UInt64, _ result: Result<[UInt8], CommandAnswer.Failure>) {
    guard let job = jobs[key]?.first else { return }
    jobs[key]?.removeFirst()
    if jobs[key]?.isEmpty == true { jobs[key] = nil }
    job.completion(result)
    // The completion may have added one, which has begun then.
    if jobs[key] == nil || jobs[key]?.isEmpty == false { begin(key) }
  }

  /// The link of a device is no longer needed.
  private func leave(_ key: UInt64) {
    guard let peripheral = links.removeValue(forKey: key) else { return }
    session?.callUnawaited(PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: peripheral))
  }

  func disconnected(_ end: PeripheralDisconnected.Params) {
    for (key, peripheral) in links where peripheral.hasSameOctets(as: end.peripheral) { links[key] = nil }
  }
}
