namespace SideBySide;

/// <summary>Where things are: the repository, a folder for what a run leaves behind, and the peers.</summary>
/// <param name="Root">The folder of the repository.</param>
/// <param name="Temporary">A folder that is deleted after the run.</param>
/// <param name="Peers">The folder with <c>bin/camel-esb.jar</c> and <c>bin/perf-test.jar</c>; null where there is none.</param>
internal sealed record Surroundings(string Root, string Temporary, string? Peers)
{
    private int _folders;

    /// <summary>As <c>loadtests/compare</c> says; the working directory is the repository.</summary>
    public static Surroundings FromEnvironment() =>
        new(
            Environment.CurrentDirectory,
            Environment.GetEnvironmentVariable("SIDEBYSIDE_FOLDER") ?? Directory.CreateTempSubdirectory("esb-compare.").FullName,
            Environment.GetEnvironmentVariable("ESB_PEERS") is { Length: > 0 } peers ? Path.GetFullPath(peers) : null
        );

    /// <exception cref="NotRunException">It is not there.</exception>
    public string Find(string path)
    {
        var full = Path.Combine(Root, path);
        return Path.Exists(full) ? full : throw new NotRunException($"{path} is missing: build the solution in Release");
    }

    /// <summary>A new folder, which nobody else uses.</summary>
    public string Folder(string name) =>
        Directory.CreateDirectory(Path.Combine(Temporary, $"{Interlocked.Increment(ref _folders):00}-{name}")).FullName;

    /// <summary>A file of the peers; null where it is missing.</summary>
    public string? Peer(string path) => Peers is not null && File.Exists(Path.Combine(Peers, path)) ? Path.Combine(Peers, path) : null;

    /// <summary>Whether a program is in the PATH.</summary>
    public static bool HasProgram(string name) => ProgramPath(name) is not null;

    public static string? ProgramPath(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(':')
            .Select(folder => Path.Combine(folder, name))
            .FirstOrDefault(File.Exists);
}
