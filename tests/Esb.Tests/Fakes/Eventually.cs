namespace Esb.Tests.Fakes;

/// <summary>Waits for what other threads are about to do.</summary>
internal static class Eventually
{
    /// <summary>Returns as soon as the condition holds; fails after ten seconds.</summary>
    public static async Task HoldsAsync(Func<bool> condition, string what, CancellationToken cancellationToken)
    {
        var deadline = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            if (TimeProvider.System.GetElapsedTime(deadline) > TimeSpan.FromSeconds(10)) Assert.Fail($"Waited in vain: {what}.");
            await Task.Delay(5, cancellationToken);
        }
    }
}
