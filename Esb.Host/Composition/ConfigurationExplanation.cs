using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Host.Composition;

/// <summary>Shows what a configuration means: its endpoints, its compiled processes, and where each value came from.</summary>
internal sealed class ConfigurationExplanation(BusModel model)
{
    private readonly EsbConfiguration _configuration = model.Configuration;
    private readonly ProcessModels? _processes = model.Find<ProcessModels>();

    public void Write(TextWriter output)
    {
        output.WriteLine($"{_configuration.Name}, revision {model.Revision}, values of this host {_configuration.HostValues}");
        WriteEndpoints(output);
        WriteValues(output);
    }

    private void WriteEndpoints(TextWriter output)
    {
        output.WriteLine();
        output.WriteLine("endpoints");
        foreach (var endpoint in EndpointSummary.AllOf(_configuration))
        {
            output.WriteLine($"  {endpoint.Name}: {endpoint.Describe()}");
            foreach (var process in endpoint.Settings.Processes)
                output.WriteLine($"    {DescribeProcess(process)}");
        }
    }

    private string DescribeProcess(string name) => _processes?.Find(name) is { } process ? $"{name}: {process.Description}" : name;

    private void WriteValues(TextWriter output)
    {
        output.WriteLine();
        output.WriteLine("values");
        foreach (var line in ConfigurationExplainer.Explain(_configuration))
            output.WriteLine(line.Length == 0 ? "" : $"  {line}");
    }
}
