using BenchmarkDotNet.Attributes;
using Esb.Content.Expressions;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Benchmarks;

/// <summary>What a route by a condition costs, beside the framework's reader that stops at the value, and its tree.</summary>
[MemoryDiagnoser]
public abstract class RoutingBenchmark(ConditionConfig condition, Func<int, byte[]> makeBody)
{
    private readonly IMessageCondition _condition = new ExpressionCompiler(
        new Dictionary<string, string>(),
        new XmlInput(new XmlLimits()),
        TimeProvider.System
    ).Compile(condition, new ConfigErrors())!;

    private EsbMessage _message = null!;

    [Params(512, 1_024, 10_240, 102_400)]
    public int BodyBytes { get; set; }

    protected byte[] Bytes { get; private set; } = [];

    [GlobalSetup]
    public void MakeBody()
    {
        Bytes = makeBody(BodyBytes);
        _message = EsbMessage.Create(MessageBody.Empty, TimeProvider.System);
    }

    [Benchmark]
    public bool Condition() => _condition.Holds(new MessageContext(_message with { Body = MessageBody.FromBytes(Bytes) }, "in"));
}
