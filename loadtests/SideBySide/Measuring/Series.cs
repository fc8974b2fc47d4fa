namespace SideBySide.Measuring;

/// <summary>All rounds of one side.</summary>
internal sealed class Series(ITarget target)
{
    private readonly List<Sample> _samples = [];

    public ITarget Target => target;

    /// <summary>The first thing that was wrong; nothing is measured after it.</summary>
    public string? Flaw { get; private set; }

    public IEnumerable<double> Rates => _samples.Select(sample => sample.PerSecond);

    public IEnumerable<double> AllocatedBytes => _samples.Select(sample => sample.AllocatedBytes).OfType<double>();

    public double MedianRate => Statistics.Median(Rates);

    public double? MedianCpu => Statistics.MedianKnown(_samples.Select(sample => sample.CpuMicroseconds));

    public double? MedianAllocated => Statistics.MedianKnown(_samples.Select(sample => sample.AllocatedBytes));

    public void Add(Sample sample) => _samples.Add(sample);

    public void Refuse(string flaw) => Flaw ??= flaw;
}
