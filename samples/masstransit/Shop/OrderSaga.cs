using MassTransit;
using Shop.Contracts;

namespace Shop;

/// <summary>An order on its way: accepted here, packed by what is behind the ESB, then completed.</summary>
public class OrderState : SagaStateMachineInstance
{
    public Guid CorrelationId { get; set; }

    public string CurrentState { get; set; } = "";
}

public class OrderSaga : MassTransitStateMachine<OrderState>
{
    public OrderSaga(Ledger ledger)
    {
        InstanceState(state => state.CurrentState);
        Event(() => Accepted, order => order.CorrelateById(context => context.Message.OrderId));
        Event(() => Packed, order => order.CorrelateById(context => context.Message.OrderId));
        Initially(When(Accepted).TransitionTo(Waiting), Complete(ledger)); // the queue has both, and Packed may be consumed first
        During(Waiting, Ignore(Accepted), Complete(ledger));
        During(Done, Ignore(Accepted), Ignore(Packed)); // a message may come twice
    }

    public Event<OrderAccepted> Accepted { get; private set; } = null!;

    public Event<OrderPacked> Packed { get; private set; } = null!;

    public State Waiting { get; private set; } = null!;

    public State Done { get; private set; } = null!;

    private EventActivityBinder<OrderState, OrderPacked> Complete(Ledger ledger) =>
        When(Packed)
            .Publish(context => new OrderCompleted(context.Saga.CorrelationId))
            .Then(context => ledger.NoteCompleted(context.Saga.CorrelationId))
            .TransitionTo(Done);
}
