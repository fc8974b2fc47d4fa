using Esb.Audit.Recording;
using Esb.Audit.Services;
using Esb.Core.Configuration;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Steps;

/// <summary>Compiles the step <c>audit</c>, which has a pool of proxies of its own.</summary>
internal sealed class AuditStepFactory(AuditServices services, AuditRecorder recorder, EsbConfiguration configuration, TimeProvider time, ILogger<AuditStep> logger) : IStepFactory
{
    public string Kind => "audit";

    public CompiledStep? Compile(StepConfig step, IStepCompiler compiler)
    {
        var config = (AuditStepConfig)step.Settings;
        var fields = AuditField.Compile(config.Fields, compiler.Expressions, compiler.Errors);
        if (fields.Count < config.Fields.Count) return null;

        var owner = $"audit step {step.Id ?? config.As} of {compiler.Process}";
        var proxies = new InstancePool<AuditProxy>(owner, () => new AuditProxy(services), new PoolLimits(config.MaximumInstances, config.PoolTimeout), time, logger);
        var maxBodyBytes = configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes;
        return new CompiledStep(new AuditStep(config, fields, proxies, maxBodyBytes, recorder, time).RunAsync, $"audit({config.As})");
    }
}
