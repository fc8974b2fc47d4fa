using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>A fact to record.</summary>
/// <param name="Fact">The fact.</param>
/// <param name="Content">The message at that time, of which the configured content is recorded; null to record the fact alone.</param>
public readonly record struct AuditRecord(AuditFact Fact, EsbMessage? Content = null);
