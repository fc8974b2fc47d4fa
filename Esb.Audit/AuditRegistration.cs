using Esb.Audit.Pressure;
using Esb.Audit.Recording;
using Esb.Audit.Services;
using Esb.Audit.Spooling;
using Esb.Audit.Steps;
using Esb.Content.Masking;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Audit;

/// <summary>The audit trail and the step that records in it.</summary>
public static class AuditRegistration
{
    /// <summary>Registers the trail, the step <c>audit</c> and what moves and removes facts. Comes after the stores, so that it starts after them and stops before.</summary>
    public static IServiceCollection AddEsbAudit(this IServiceCollection services) => services
        .AddSection<AuditConfig>("audit", "How what happens to messages is recorded.")
        .AddStep<AuditStepFactory, AuditStepConfig>("audit", "Records the message where it stands.")
        .AddSingleton(provider => provider.GetRequiredService<EsbConfiguration>().Section<AuditConfig>("audit"))
        .AddSingleton<IConfigurationCheck, AuditCheck>()
        .AddSingleton(Mask)
        .AddSingleton(provider => AuditPolicies.Compile(provider.GetRequiredService<EsbConfiguration>(), provider.GetRequiredService<IExpressionCompiler>(), new ConfigErrors()))
        .AddSingleton<AuditRecorder>()
        .AddSingleton<AuditTrail>()
        .AddSingleton<IAuditTrail>(provider => provider.GetRequiredService<AuditTrail>())
        .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<AuditTrail>())
        .AddSingleton<AuditGate>()
        .AddSingleton<IAuditGate>(provider => provider.GetRequiredService<AuditGate>())
        .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<AuditGate>())
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<AuditGate>())
        .AddSingleton<AuditServices>()
        .AddSingleton<IBusPart, AuditMover>()
        .AddSingleton<IBusPart, AuditRetention>();

    private static IMessageMask Mask(IServiceProvider provider)
    {
        var config = provider.GetRequiredService<AuditConfig>();
        return MaskCompiler.Compile(
            config.Masks, config.HashKey, provider.GetRequiredService<EsbConfiguration>(), provider.GetRequiredService<XmlInput>(), provider.GetRequiredService<TimeProvider>(), new ConfigErrors());
    }
}
