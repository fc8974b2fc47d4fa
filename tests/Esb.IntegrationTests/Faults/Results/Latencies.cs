using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>How long senders waited for an outcome.</summary>
internal static class Latencies
{
    public static TimeSpan Percentile(IEnumerable<SentMessage> messages, double share)
    {
        var sorted = messages.Select(message => message.Took).Order().ToList();
        return sorted.Count == 0 ? TimeSpan.Zero : sorted[(int)Math.Ceiling(sorted.Count * share) - 1];
    }
}
