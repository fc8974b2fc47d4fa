using MassTransit;
using Shop.Contracts;

namespace Shop;

/// <summary>Hears from the ESB that an order is packed.</summary>
public class PackedConsumer(Ledger ledger) : IConsumer<OrderPacked>
{
    public Task Consume(ConsumeContext<OrderPacked> context)
    {
        ledger.NotePacked(
            context.Message.OrderId,
            context.MessageId ?? Guid.Empty,
            context.ConversationId,
            context.Headers.Get<string>("x-region")
        );
        return Task.CompletedTask;
    }
}

/// <summary>Answers the ESB.</summary>
public class StockConsumer : IConsumer<CheckStock>
{
    public Task Consume(ConsumeContext<CheckStock> context) =>
        context.Message.Sku.StartsWith("A-", StringComparison.Ordinal)
            ? context.RespondAsync(new Stock(context.Message.Sku, 12))
            : throw new InvalidOperationException($"There is no article {context.Message.Sku}.");
}
