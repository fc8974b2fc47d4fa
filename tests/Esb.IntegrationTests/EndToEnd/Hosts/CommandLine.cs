using System.Diagnostics;
using Esb.Host.Commands;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>Runs the command line: in this process where it only calls the management API, as most commands do, since compiling the program
/// takes longer than the call; otherwise in a process of its own.</summary>
internal static class CommandLine
{
    private const string Key = "ESB_KEY";

    public static async Task<(int ExitCode, string Output, string Error)> RunAsync(
        string folder,
        CancellationToken cancellationToken,
        params string[] arguments
    ) => await RunAsync(folder, new Dictionary<string, string>(), cancellationToken, arguments);

    public static async Task<(int ExitCode, string Output, string Error)> RunAsync(
        string folder,
        IReadOnlyDictionary<string, string> variables,
        CancellationToken cancellationToken,
        params string[] arguments
    )
    {
        var onlyCalls = arguments.Contains("--url") && !arguments.Any(argument => Path.Exists(Path.Combine(folder, argument)));
        if (onlyCalls && await FindKeyAsync(folder, variables, cancellationToken) is { } key)
            return await CallAsync(key, variables, arguments);

        var start = StartOf(folder, arguments);
        foreach (var (name, value) in variables)
            start.Environment[name] = value;
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
        var error = process.StandardError.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return (process.ExitCode, await output, await error);
    }

    /// <summary>Runs a command in this process, also where it reads files: for what is asked again and again until a moment has come. The
    /// host of the folder has to have made its key.</summary>
    public static async Task<(int ExitCode, string Output, string Error)> RunHereAsync(
        string folder,
        IReadOnlyDictionary<string, string> variables,
        CancellationToken cancellationToken,
        params string[] arguments
    ) => await CallAsync((await FindKeyAsync(folder, variables, cancellationToken))!, variables, arguments);

    /// <summary>Presses Ctrl-C behind the first line of the output.</summary>
    public static async Task<(int ExitCode, string Line, string Error)> InterruptAsync(
        string folder,
        CancellationToken cancellationToken,
        params string[] arguments
    )
    {
        using var process = Process.Start(StartOf(folder, arguments))!;
        var error = process.StandardError.ReadToEndAsync(cancellationToken);
        var line = await process.StandardOutput.ReadLineAsync(cancellationToken);
        using (var kill = Process.Start("kill", ["-INT", $"{process.Id}"]))
            await kill.WaitForExitAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return (process.ExitCode, line ?? "", await error);
    }

    /// <summary>The environment of a command in this process.</summary>
    /// <param name="variables">Variables beside those of this process, which they replace.</param>
    /// <param name="output">What it writes to.</param>
    /// <param name="error">What it writes errors to.</param>
    public static CommandContext ContextOf(IReadOnlyDictionary<string, string> variables, TextWriter output, TextWriter error)
    {
        var here = CommandContext.OfThisProcess();
        var all = new Dictionary<string, string>(here.Variables);
        foreach (var (name, value) in variables)
            all[name] = value;
        return here with
        {
            Output = output,
            Error = error,
            Variables = all,
            IsInteractive = false,
            ReachTime = TimeSpan.FromMinutes(1), // the machine may be busy
        };
    }

    // Null where the program would find none: what it then says is for a process of its own.
    private static async Task<string?> FindKeyAsync(
        string folder,
        IReadOnlyDictionary<string, string> variables,
        CancellationToken cancellationToken
    )
    {
        if (variables.TryGetValue(Key, out var given))
            return given;
        var file = Path.Combine(folder, "esb-data", "management.key");
        return File.Exists(file) ? (await File.ReadAllTextAsync(file, cancellationToken)).Trim() : null;
    }

    private static async Task<(int ExitCode, string Output, string Error)> CallAsync(
        string key,
        IReadOnlyDictionary<string, string> variables,
        string[] arguments
    )
    {
        using var output = new StringWriter();
        using var error = new StringWriter();
        var context = ContextOf(new Dictionary<string, string>(variables) { [Key] = key }, output, error);
        var exitCode = await EsbCommandLine.InvokeAsync(arguments, context);
        return (exitCode, output.ToString(), error.ToString());
    }

    private static ProcessStartInfo StartOf(string folder, string[] arguments) =>
        new("dotnet", [Repository.Host, .. arguments])
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
}
