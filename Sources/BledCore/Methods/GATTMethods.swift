import BledRPC

extension Router {
  func serveGATT(_ broker: CentralBroker) {
    serve(GATTDiscover.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discoverEverything(params, for: session, reply)
    }
    serve(GATTDiscoverServices.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session)
        .discover(.services(params.services ?? [], reply), for: session)
    }
    serve(GATTDiscoverIncludedServices.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discover(.includedServices(params, reply), for: session)
    }
    serve(GATTDiscoverCharacteristics.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discover(.characteristics(params, reply), for: session)
    }
    serve(GATTDiscoverDescriptors.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).discover(.descriptors(params, reply), for: session)
    }
    serve(GATTRead.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).read(params.handle, for: session, reply)
    }
    serve(GATTWrite.self) { [unowned broker] params, session, reply in
      do {
        try broker.link(to: params.peripheral, for: session).write(params, for: session, reply)
      } catch {
        if params.response == false { broker.noteRefusedCommand(of: session, params, error) }
        throw error
      }
    }
    serve(GATTSubscribe.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).subscribe(to: params.handle, for: session, reply)
    }
    serve(GATTUnsubscribe.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).unsubscribe(from: params.handle, for: session, reply)
    }
  }
}
