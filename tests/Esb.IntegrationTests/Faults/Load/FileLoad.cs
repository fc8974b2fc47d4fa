using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Puts files into a folder as a careful writer does: complete before they have their name. A file that has it is
/// accepted.</summary>
internal sealed class FileLoad(string folder, SendLedger ledger, int seed)
{
    /// <summary>Ends when there were enough files and something else is done too.</summary>
    public async Task RunAsync(int files, int rate, Task until, CancellationToken cancellationToken)
    {
        var random = new Random(seed);
        for (var sequence = 1; sequence <= files || !until.IsCompleted; sequence++)
        {
            var id = $"file-{sequence}";
            var body = FaultBody.Make(id, random.Next(100, 4_096), random);
            var message = new SentMessage(id, "file", sequence, "work.item", FaultBody.HashOf(body), TimeProvider.System.GetUtcNow());
            await ledger.BeginAsync(message);
            var unfinished = Path.Combine(folder, $".{id}");
            await File.WriteAllTextAsync(unfinished, body, cancellationToken);
            File.Move(unfinished, Path.Combine(folder, $"{id}.txt"));
            await ledger.EndAsync(message with { Outcome = SendOutcome.Confirmed, OutcomeAt = TimeProvider.System.GetUtcNow() });
            if (sequence % Math.Max(1, rate / 20) == 0)
                await Task.Delay(50, cancellationToken);
        }
    }
}
