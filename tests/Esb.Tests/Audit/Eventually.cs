using NUnit.Framework;

namespace Esb.Tests.Audit;

/// <summary>Waits for a condition rather than for a time.</summary>
internal static class Eventually
{
    public static async Task HoldsAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
        {
            if (cancellationToken.IsCancellationRequested)
                Assert.Fail("The condition did not hold in time.");
            await Task.Delay(5, CancellationToken.None);
        }
    }
}
