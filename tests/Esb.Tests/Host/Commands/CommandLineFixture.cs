using Esb.Host.Commands;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Commands;

/// <summary>Commands, what they write, and a folder that is removed after each test.</summary>
public abstract class CommandLineFixture
{
    private DirectoryInfo _folder = null!;
    private StringWriter _output = null!;
    private StringWriter _error = null!;

    private protected string Folder => _folder.FullName;

    private protected string Output => _output.ToString();

    private protected string Error => _error.ToString();

    /// <summary>How long a host may take to show that it is there: long, because the machine may be busy.</summary>
    private protected TimeSpan ReachTime { get; set; }

    [SetUp]
    public void CreateFolder()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        _output = new StringWriter();
        _error = new StringWriter();
        ReachTime = TimeSpan.FromMinutes(1);
    }

    [TearDown]
    public void DeleteFolder()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
        _error.Dispose();
    }

    private protected Task<int> RunAsync(params string[] arguments) => RunWithAsync([], arguments);

    private protected Task<int> AskAsync(RunningManagement host, params string[] arguments) =>
        RunWithAsync(new() { ["ESB_KEY"] = host.Key }, [.. arguments, "--url", host.Server.Address.ToString()]);

    private protected Task<int> RunWithAsync(Dictionary<string, string> variables, params string[] arguments) =>
        EsbCommandLine.InvokeAsync(
            arguments,
            new CommandContext
            {
                Output = _output,
                Error = _error,
                Variables = variables,
                Services = StandIns.Services,
                ReachTime = ReachTime,
            }
        );

    private protected Task<int> RunAsync(Func<IServiceCollection> services, params string[] arguments) =>
        EsbCommandLine.InvokeAsync(
            arguments,
            new CommandContext
            {
                Output = _output,
                Error = _error,
                Variables = new Dictionary<string, string>(),
                Services = services,
                ReachTime = ReachTime,
            }
        );

    private protected void ForgetOutput() => _output.GetStringBuilder().Clear();

    private protected string Write(string configuration)
    {
        var path = Path.Combine(Folder, "esb.json");
        File.WriteAllText(path, configuration);
        return path;
    }
}
