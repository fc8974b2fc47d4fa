namespace Esb.Host.Composition;

/// <summary>The configuration that runs if none is named.</summary>
internal static class DefaultConfiguration
{
    private static readonly string Sample = Path.Combine("samples", "orders");

    /// <summary>The orders sample in the working directory; if it does not exist, the sample beside the program.</summary>
    public static string Find() => Directory.Exists(Sample) ? Sample : Path.Combine(AppContext.BaseDirectory, Sample);
}
