import BledRPC

extension Router {
  func serveGATT(_ broker: CentralBroker) {
    serve(GATTDiscover.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discover(session, reply)
    }
    serve(GATTDiscoverServices.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discoverServices(params.services ?? [], session, reply)
    }
    serve(GATTDiscoverIncludedServices.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discoverIncludedServices(params, session, reply)
    }
    serve(GATTDiscoverCharacteristics.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discoverCharacteristics(params, session, reply)
    }
    serve(GATTDiscoverDescriptors.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discoverDescriptors(params, session, reply)
    }
    serve(GATTRead.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).read(params.handle, session, reply)
    }
    serve(GATTWrite.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).write(params, session, reply)
    }
    serve(GATTSubscribe.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).subscribe(to: params.handle, session, reply)
    }
    serve(GATTUnsubscribe.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).unsubscribe(from: params.handle, session, reply)
    }
  }
}
