using Esb.Core.Audit;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>What the audit shows of the beginning of each accepted message.</summary>
/// <param name="Unreceived">Accepted, without a fact that it came in.</param>
/// <param name="Unpublished">Accepted, without a fact that it was published.</param>
/// <param name="Twice">Facts beyond the first of their kind for one message.</param>
internal sealed record IntakeTally(int Unreceived, int Unpublished, int Twice)
{
    public static readonly IntakeTally Clean = new(0, 0, 0);

    private const string BrokerKey = "published"; // past the hosts: nobody received them

    /// <param name="bench">Whose senders were answered over HTTP.</param>
    /// <param name="endpoint">Where the messages came in.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    public static async Task<IntakeTally> CountAsync(FaultBench bench, string endpoint, CancellationToken cancellationToken)
    {
        var accepted = bench
            .Ledger.Messages.Where(message => message is { Outcome: SendOutcome.Confirmed, Key: not BrokerKey })
            .Select(message => message.MessageId!.Value)
            .ToHashSet();
        var received = await bench.Records.ReadMessagesAsync(AuditKind.Received, endpoint, cancellationToken);
        var published = await bench.Records.ReadMessagesAsync(AuditKind.Published, null, cancellationToken);
        return new IntakeTally(
            accepted.Except(received).Count(),
            accepted.Except(published).Count(),
            CountTwice(received) + CountTwice(published)
        );
    }

    public override string ToString() => $"{Unreceived} without received, {Unpublished} without published, {Twice} facts twice";

    private static int CountTwice(IReadOnlyList<Guid> messages) => messages.Count - messages.Distinct().Count();
}
