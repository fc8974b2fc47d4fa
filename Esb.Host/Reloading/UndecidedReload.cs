namespace Esb.Host.Reloading;

/// <summary>An exchange that another host leads and that is ready here, until the decision. Thread-safe.</summary>
/// <param name="id">The exchange.</param>
/// <param name="prepared">What is ready.</param>
/// <param name="by">Who wants it.</param>
/// <param name="time">The clock.</param>
internal sealed class UndecidedReload(Guid id, PreparedExchange prepared, string by, TimeProvider time)
{
    /// <summary>How long it waits without hearing of the host that leads.</summary>
    public static readonly TimeSpan LongestSilence = TimeSpan.FromSeconds(10);

    private long _heardAt = time.GetTimestamp();

    /// <summary>The exchange.</summary>
    public Guid Id => id;

    /// <summary>What is ready.</summary>
    public PreparedExchange Prepared => prepared;

    /// <summary>Who wants it.</summary>
    public string By => by;

    /// <summary>The host that leads has told that the decision is still to come.</summary>
    public void Hear() => Volatile.Write(ref _heardAt, time.GetTimestamp());

    /// <summary>Returns once the host that leads has been silent for <see cref="LongestSilence"/>, or this host stops.</summary>
    public async Task WaitForSilenceAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            var left = LongestSilence - time.GetElapsedTime(Volatile.Read(ref _heardAt));
            if (left <= TimeSpan.Zero) return;
            await Task.Delay(left, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
