using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Sends messages to the hosts of a farm, at a steady rate, until enough were accepted. What was refused or is unknown is not
/// repeated: the next message has the next number.</summary>
internal sealed class LoadGenerator(LoadPlan plan, SendLedger ledger, Func<Random, Uri> host, int seed) : IDisposable
{
    private readonly HttpSender _sender = new();
    private int _acknowledged;

    public int Acknowledged => Volatile.Read(ref _acknowledged);

    /// <summary>The codes of what was not accepted, and how often each came.</summary>
    public IReadOnlyDictionary<string, int> Codes => _sender.Codes;

    /// <summary>Ends when enough were accepted and, where it is given, something else is done too.</summary>
    public async Task RunAsync(CancellationToken cancellationToken, Task? until = null)
    {
        bool IsDone() => Acknowledged >= plan.Messages && until?.IsCompleted != false;
        var senders = Enumerable.Range(0, Math.Min(plan.Senders, plan.Keys)).Select(number => SendAsync(number, IsDone, cancellationToken));
        await Task.WhenAll(senders);
    }

    public void Dispose() => _sender.Dispose();

    private async Task SendAsync(int number, Func<bool> isDone, CancellationToken cancellationToken)
    {
        var random = new Random(seed + number);
        var senders = Math.Min(plan.Senders, plan.Keys);
        var keys = Enumerable.Range(0, plan.Keys).Where(key => key % senders == number).ToArray();
        var sequences = new int[plan.Keys];
        var interval = TimeSpan.FromSeconds((double)senders / plan.Rate);
        var due = TimeProvider.System.GetTimestamp();
        while (!isDone())
        {
            var key = keys[random.Next(keys.Length)];
            var outcome = await SendAsync(key, ++sequences[key], random, cancellationToken);
            if (outcome != SendOutcome.Confirmed)
                await Task.Delay(plan.PauseAfterRefusal * (0.5 + random.NextDouble()), cancellationToken);
            due += (long)(interval.TotalSeconds * TimeProvider.System.TimestampFrequency);
            var early = TimeProvider.System.GetElapsedTime(TimeProvider.System.GetTimestamp(), due);
            if (early > TimeSpan.Zero)
                await Task.Delay(early, cancellationToken);
            else if (early < TimeSpan.FromSeconds(-1))
                due = TimeProvider.System.GetTimestamp(); // an outage is not caught up with a burst
        }
    }

    private async Task<SendOutcome> SendAsync(int key, int sequence, Random random, CancellationToken cancellationToken)
    {
        var name = $"{plan.KeyPrefix}{key}";
        var id = $"{name}-{sequence}";
        var body = FaultBody.Make(id, SizeDistribution.Next(random, plan), random);
        var message = new SentMessage(id, name, sequence, plan.Subject, FaultBody.HashOf(body), TimeProvider.System.GetUtcNow());
        await ledger.BeginAsync(message);
        var started = TimeProvider.System.GetTimestamp();
        var (outcome, messageId) = await _sender.SendAsync(new Uri(host(random), plan.PathOf(key)), message, body, cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(started);
        await ledger.EndAsync(
            message with
            {
                Outcome = outcome,
                MessageId = messageId,
                OutcomeAt = TimeProvider.System.GetUtcNow(),
                Took = took,
            }
        );
        if (outcome == SendOutcome.Confirmed)
            Interlocked.Increment(ref _acknowledged);
        return outcome;
    }
}
