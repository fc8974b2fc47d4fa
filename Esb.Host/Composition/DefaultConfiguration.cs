namespace Esb.Host.Composition;

/// <summary>The configuration that runs when nobody names one.</summary>
internal static class DefaultConfiguration
{
    private static readonly string Sample = Path.Combine("samples", "orders");

    /// <summary>The orders sample in the working directory; where there is none, the one beside the program.</summary>
    public static string Find() => Directory.Exists(Sample) ? Sample : Path.Combine(AppContext.BaseDirectory, Sample);
}
