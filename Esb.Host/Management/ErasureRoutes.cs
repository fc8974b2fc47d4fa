using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Erases recorded bodies on request: who asked and why stays on record.</summary>
internal static class ErasureRoutes
{
    public static IEndpointRouteBuilder MapErasureRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        api.MapPost("/messages/{id}/erase", (string id, HttpRequest request, CancellationToken cancellationToken) => EraseAsync(bus, id, request, cancellationToken));
        return api;
    }

    // The record comes first: a body that is gone without one counts as removed by force.
    private static async Task<EraseReceipt> EraseAsync(IServiceProvider bus, string id, HttpRequest request, CancellationToken cancellationToken)
    {
        if (!Guid.TryParse(id, out var messageId)) throw Problems.Parameter("id", "expected a UUID");
        var decision = Operators.WithReason(request, (await JsonBody.ReadAsync<EraseBody>(request, cancellationToken)).Reason);
        var store = bus.GetRequiredService<IAuditStore>();
        var eraser = bus.GetRequiredService<IAuditEraser>();
        var known = await store.FindAsync(new AuditQuery { MessageId = messageId, Limit = 1 }, cancellationToken).FirstOrDefaultAsync(cancellationToken)
            ?? throw Problems.NotFound($"Nothing is recorded of a message {messageId}.");
        if (await eraser.CountBodiesAsync(messageId, cancellationToken) == 0) return new EraseReceipt(0);

        var time = bus.GetRequiredService<TimeProvider>();
        var message = new EsbMessage { Id = messageId, ConversationId = known.ConversationId, CreatedAt = time.GetUtcNow() };
        var fact = AuditFacts.Of(message, AuditKind.Erased, time) with { Reason = decision.Reason, Fields = new Dictionary<string, string> { ["operator"] = decision.By } };
        await store.AppendAsync([fact], cancellationToken); // in the store itself, not on its way there
        return new EraseReceipt(await eraser.EraseBodiesAsync(messageId, CancellationToken.None));
    }
}

/// <summary>Why bodies are erased.</summary>
internal sealed record EraseBody
{
    public string? Reason { get; init; }
}

/// <summary>How many bodies were erased.</summary>
internal sealed record EraseReceipt(long Erased);
