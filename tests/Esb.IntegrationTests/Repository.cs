namespace Esb.IntegrationTests;

/// <summary>Where the files of the repository are, seen from the compiled tests.</summary>
internal static class Repository
{
    private static readonly DirectoryInfo Output = new(AppContext.BaseDirectory.TrimEnd('/'));

    public static string Root { get; } = Output.Parent!.Parent!.Parent!.Parent!.Parent!.FullName;

    /// <summary>The host as it was built together with the tests.</summary>
    public static string Host { get; } = Path.Combine(Root, "Esb.Host", "bin", Output.Parent!.Name, Output.Name, "esb.dll");

    /// <summary>A host that acknowledges before it has delivered, built together with the tests.</summary>
    public static string KnownBadHost { get; } =
        Path.Combine(Root, "tests", "Esb.KnownBad", "bin", Output.Parent!.Name, Output.Name, "Esb.KnownBad.dll");

    public static string PathOf(params string[] parts) => Path.Combine([Root, .. parts]);
}
