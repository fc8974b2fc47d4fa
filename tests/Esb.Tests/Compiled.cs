using Esb.Configuration;
using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Tests;

/// <summary>Services over a compiled configuration, as a host composes them.</summary>
internal static class Compiled
{
    /// <summary>Compiles a configuration and builds the services that run on it; whatever is wrong is in the errors.</summary>
    public static ServiceProvider Build(IServiceCollection services, EsbConfiguration configuration, ConfigErrors errors)
    {
        services.TryAddSingleton(TimeProvider.System);
        var time = services.Select(service => service.ImplementationInstance).OfType<TimeProvider>().First();
        var model = CompilePhase.Compile(services, configuration, errors, time);
        var provider = model.AddTo(services).BuildServiceProvider();
        provider.GetRequiredService<RevisionScope>().Model = model; // there is one revision, and it lives as long as all
        return provider;
    }
}
