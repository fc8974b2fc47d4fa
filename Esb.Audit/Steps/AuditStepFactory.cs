using Esb.Audit.Services;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Steps;

/// <summary>Compiles the step <c>audit</c>, which has a pool of proxies of its own.</summary>
internal sealed class AuditStepFactory(AuditServices services, EsbConfiguration configuration, TimeProvider time, ILogger<AuditStep> logger) : IStepFactory
{
    public string Kind => "audit";

    public CompiledStep? Compile(StepConfig step, IStepCompiler compiler)
    {
        var config = (AuditStepConfig)step.Settings;
        var fields = new List<AuditField>();
        foreach (var (name, value) in config.Fields)
        {
            if (compiler.Expressions.Compile(value, compiler.Errors) is { } compiled) fields.Add(new AuditField(name, compiled));
        }

        if (fields.Count < config.Fields.Count) return null;

        var owner = $"audit step {step.Id ?? config.As} of {compiler.Process}";
        var proxies = new InstancePool<AuditProxy>(owner, () => new AuditProxy(services), new PoolLimits(config.MaximumInstances, config.PoolTimeout), time, logger);
        var maxBodyBytes = configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes;
        return new CompiledStep(new AuditStep(config, fields, proxies, maxBodyBytes, time, logger).RunAsync, $"audit({config.As})");
    }
}

/// <summary>A field to record.</summary>
internal sealed record AuditField(string Name, IMessageValue Value);
