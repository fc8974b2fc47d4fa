namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Sizes of bodies as traffic has them: log-normal around 1 KiB, most of them small, a few near the limit.</summary>
internal static class SizeDistribution
{
    private const double Middle = 1_024;
    private const double Spread = 1.1;

    public static int Next(Random random, LoadPlan plan)
    {
        var normal = Math.Sqrt(-2 * Math.Log(1 - random.NextDouble())) * Math.Cos(2 * Math.PI * random.NextDouble()); // Box and Muller
        return (int)Math.Clamp(Middle * Math.Exp(Spread * normal), plan.SmallestBody, plan.LargestBody);
    }
}
