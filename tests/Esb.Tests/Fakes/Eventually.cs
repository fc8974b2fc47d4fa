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
            if (TimeProvider.System.GetElapsedTime(deadline) > TimeSpan.FromSeconds(10))
                Assert.Fail($"Waited in vain: {what}.");
            await Task.Delay(5, cancellationToken);
        }
    }

    /// <summary>Returns as soon as the condition holds; fails after a minute.</summary>
    public static Task BecomesAsync(Func<bool> condition, CancellationToken cancellationToken) =>
        BecomesAsync(() => Task.FromResult(condition()), cancellationToken);

    /// <inheritdoc cref="BecomesAsync(Func{bool}, CancellationToken)"/>
    public static async Task BecomesAsync(Func<Task<bool>> condition, CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (!await condition())
        {
            if (TimeProvider.System.GetElapsedTime(began) > TimeSpan.FromMinutes(1))
                Assert.Fail("Waited in vain.");
            await Task.Delay(20, cancellationToken);
        }
    }
}
