# The crawler and its search page: `docker build -t webcrawler .`, or buildah. BASE is any image with python3 and venv.
ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
ARG EXTRAS=serve,documents
WORKDIR /source
RUN python3 -m venv /opt/webcrawler
COPY pyproject.toml setup.py README.md LICENSE ./
COPY webcrawler ./webcrawler
COPY spiders ./spiders
COPY pipelines ./pipelines
COPY docs ./docs
RUN /opt/webcrawler/bin/pip install --no-cache-dir --no-compile ".[${EXTRAS}]"

FROM ${BASE} AS installed
COPY --from=build /opt/webcrawler /opt/webcrawler
RUN useradd --uid 1000 --home-dir /data --create-home crawler
ENV PATH=/opt/webcrawler/bin:$PATH CRAWL_DIR=/data/crawl PYTHONUNBUFFERED=1
USER 1000
WORKDIR /data
VOLUME /data

FROM installed AS scrapyd
USER 0
# Scrapyd imports pkg_resources, which setuptools 81 dropped
RUN /opt/webcrawler/bin/pip install --no-cache-dir "scrapyd>=1.6,<2" "setuptools>=77,<81"
COPY docker/scrapyd.conf /etc/scrapyd/scrapyd.conf
USER 1000
EXPOSE 6800
CMD ["scrapyd"]

FROM installed
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
ENTRYPOINT ["webcrawler"]
CMD ["serve", "--host", "0.0.0.0"]
