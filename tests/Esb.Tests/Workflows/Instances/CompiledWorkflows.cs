using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Workflows.Instances;

/// <summary>What <c>esb validate</c> says of workflows.</summary>
/// <param name="Errors">The errors.</param>
/// <param name="Warnings">The warnings; empty where there are errors.</param>
internal sealed record CompiledWorkflows(IReadOnlyList<ConfigError> Errors, IReadOnlyList<ConfigError> Warnings)
{
    /// <param name="workflows">The section <c>workflows</c>, as JSON.</param>
    /// <param name="sections">Further sections, as JSON, each with a comma behind it.</param>
    public static CompiledWorkflows Of(string workflows, string sections = "")
    {
        var folder = Directory.CreateTempSubdirectory("esb-workflows-");
        try
        {
            File.WriteAllText(
                Path.Combine(folder.FullName, "esb.json"),
                $$"""
                {
                  {{sections}}
                  "topics": { "orders": {}, "stock": {}, "bills": {}, "out": {}, "esb-events": {} },
                  "workflows": {{workflows}}
                }
                """
            );
            var model = BusServices.Compile(folder.FullName, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
            return new CompiledWorkflows([], model.Warnings);
        }
        catch (ConfigurationRefusedException ex)
        {
            return new CompiledWorkflows(ex.Errors, []);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
