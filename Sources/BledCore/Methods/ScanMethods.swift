import BledRPC

extension Router {
  func serveScan(_ broker: ScanBroker) {
    answer(ScanStart.self) { [unowned broker] params, session in
      try broker.start(params, for: session)
      return Empty()
    }
    answer(ScanStop.self) { [unowned broker] _, session in
      broker.stop(session)
      return Empty()
    }
  }
}
