using Esb.Host.Versions;

namespace Esb.Host.Reloading;

/// <summary>An exchange that is led by another host and prepared here, until the decision. Thread-safe.</summary>
/// <param name="question">What the other host asked for.</param>
/// <param name="read">What is to be put into service.</param>
/// <param name="prepared">The prepared exchange.</param>
/// <param name="time">The clock.</param>
internal sealed class UndecidedReload(PrepareReload question, ReadConfiguration read, PreparedExchange prepared, TimeProvider time)
{
    /// <summary>The maximum wait without a message from the leading host.</summary>
    public static readonly TimeSpan LongestSilence = TimeSpan.FromSeconds(10);

    private long _heardAt = time.GetTimestamp();

    /// <summary>The id of the exchange.</summary>
    public Guid Id => question.Id;

    /// <summary>True if the leading host moves waiting messages before it decides.</summary>
    public bool Migrates => question.Migrates;

    /// <summary>How the revision comes.</summary>
    public string Kind => question.Kind;

    /// <summary>What is to be put into service.</summary>
    public ReadConfiguration Read => read;

    /// <summary>The prepared exchange.</summary>
    public PreparedExchange Prepared => prepared;

    /// <summary>The operator.</summary>
    public string By => question.By;

    /// <summary>Records a reminder of the leading host that the decision is still pending.</summary>
    public void Hear() => Volatile.Write(ref _heardAt, time.GetTimestamp());

    /// <summary>Completes when the leading host has been silent for <see cref="LongestSilence"/>, or when this host stops.</summary>
    public async Task WaitForSilenceAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            var left = LongestSilence - time.GetElapsedTime(Volatile.Read(ref _heardAt));
            if (left <= TimeSpan.Zero)
                return;
            await Task.Delay(left, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
