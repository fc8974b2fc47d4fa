namespace Esb.IntegrationTests.Topics;

/// <summary>Waits for conditions, never for a fixed time.</summary>
internal static class Eventually
{
    public static async Task HoldsAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
            await Task.Delay(20, cancellationToken);
    }

    public static async Task HoldsAsync(Func<Task<bool>> condition, CancellationToken cancellationToken)
    {
        while (!await condition())
            await Task.Delay(20, cancellationToken);
    }
}
