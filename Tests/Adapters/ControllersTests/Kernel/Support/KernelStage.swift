import Adapter
import Bluetooth
import EventLoop
import TestSupport

@testable import Controllers

/// The owner of an adapter's bonds.
final class StoredBonds: BondSource {
  var all: [Bond] = []
}

/// An adapter on a scripted kernel, under virtual time.
final class KernelStage {
  let kernel = ScriptedKernel()
  let scheduler: VirtualScheduler
  let loop: EventLoop
  let adapter: KernelAdapter
  let bonds = StoredBonds()
  private(set) var events: [AdapterEvent] = []
  private(set) var links: [any Link] = []

  /// The questions of pairings.
  var questions: [QuestionID] {
    events.compactMap { if case .pairing(_, .question(let id, _)) = $0 { id } else { nil } }
  }

  let log = LogLines()

  init() throws {
    loop = try EventLoop()
    scheduler = VirtualScheduler(later: loop.execute)
    adapter = KernelAdapter(
      selector: .index(0), spare: DeviceAddress(value: 0xC000_0000_0001, kind: .random), kernel: kernel, loop: loop,
      scheduler: scheduler,
      logger: log.logger)
    adapter.setBonds(bonds)
    adapter.onEvent = { [unowned self] event in
      events.append(event)
      if case .connected(let link) = event { links.append(link) }
    }
  }

  /// A stage with the adapter on.
  static func on(_ change: (ScriptedKernel) -> Void = { _ in }) throws -> KernelStage {
    let stage = try KernelStage()
    change(stage.kernel)
    stage.adapter.start()
    try stage.settle()
    return stage
  }

  /// Lets both sides do all that can be done without time passing.
  func settle() throws {
    var isBusy = true
    while isBusy {
      let hasWorked = try loop.poll()
      isBusy = try kernel.answer() || hasWorked
    }
  }

  /// Lets time pass.
  func wait(_ duration: Duration) throws {
    try settle()
    scheduler.advance(by: duration)
    try settle()
  }
}
